#include "tidemill/cli/outputs/network_outputs.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tidemill/cli/outputs/signal_stamps.hpp"
#include "tidemill/io/rtp_packetizer.hpp"
#include "tidemill/io/tcp_broadcaster.hpp"
#include "tidemill/io/ts_pacer.hpp"
#include "tidemill/io/udp_sender.hpp"

namespace tidemill::cli {

namespace {

using NetworkClock = std::chrono::steady_clock;

/// Sends what is to leave together.
class NetworkSender {
  public:
    virtual ~NetworkSender() = default;
    virtual void send(std::span<const std::uint8_t> bytes, const SignalStamp& stamp) = 0;
    virtual void close() {}
    virtual OutputLosses losses() const = 0;
};

class UdpOutput final : public NetworkSender {
  public:
    UdpOutput(const io::NetworkAddress& to, io::WhenFull when_full) : sender_(to, when_full) {}

    void send(std::span<const std::uint8_t> bytes, const SignalStamp& /*stamp*/) override {
        sender_.send(bytes);
    }
    OutputLosses losses() const override { return {.bytes = sender_.bytes_lost()}; }

  private:
    io::UdpSender sender_;
};

class RtpOutput final : public NetworkSender {
  public:
    RtpOutput(const io::NetworkAddress& to, io::WhenFull when_full) : sender_(to, when_full) {}

    void send(std::span<const std::uint8_t> bytes, const SignalStamp& stamp) override {
        sender_.send(rtp_.packet(bytes, stamp.at_s, stamp.jumps));
    }
    OutputLosses losses() const override { return {.bytes = sender_.bytes_lost()}; }

  private:
    io::UdpSender sender_;
    io::RtpPacketizer rtp_{io::random_rtp_start()};
};

class TcpOutput final : public NetworkSender {
  public:
    explicit TcpOutput(const io::NetworkAddress& at) : clients_(at) {}

    void send(std::span<const std::uint8_t> bytes, const SignalStamp& /*stamp*/) override {
        clients_.write(bytes);
    }
    void close() override { clients_.close(kPatience); }
    OutputLosses losses() const override { return {.clients = clients_.counts()}; }

  private:
    // At the end of the stream, for those who read; well within a second.
    static constexpr std::chrono::milliseconds kPatience{500};

    io::TcpBroadcaster clients_;
};

/// Seven packets at a time, each when they are due.
class PacedPackets final : public ByteOutput {
  public:
    PacedPackets(std::unique_ptr<NetworkSender> sender, const OutputStyle& style)
        : sender_(std::move(sender)),
          pacer_(style.network_mbps > 0 ? std::optional(style.network_mbps * 1e6) : std::nullopt),
          paced_(style.is_paced()),
          may_wait_(paced_ || style.when_full == io::WhenFull::wait),
          hurry_(style.hurry) {}

    void came_at(const SignalTime& time) override { came_at_ = time; }

    void write(std::span<const std::uint8_t> packets) override {
        last_bytes_ = packets.size();
        if (!paced_) {
            send_now(packets);
            return;
        }
        pacer_.push(packets, due_);
        send_due();
    }
    void close() override {
        pacer_.finish(due_);
        send_due();
        sender_->close();
    }
    bool may_wait() const override { return may_wait_; }
    OutputLosses losses() const override { return sender_->losses(); }
    std::uint64_t bytes_kept_back() const override { return last_bytes_; }

  private:
    // Each stands where in its frame it came.
    void send_now(std::span<const std::uint8_t> packets) {
        const double now_s = seconds_to(NetworkClock::now());
        for (std::size_t at = 0; at < packets.size(); at += io::kDatagramBytes) {
            const double part = static_cast<double>(at) / static_cast<double>(packets.size());
            const double signal_s = came_at_ ? came_at_->from_s + part * came_at_->lasts_s : now_s;
            sender_->send(packets.subspan(at, std::min(io::kDatagramBytes, packets.size() - at)),
                          stamps_.at(signal_s, now_s));
        }
    }

    void send_due() {
        for (const io::TimedDatagram& datagram : due_) {
            if (paced_) wait_for(datagram.due_s);
            sender_->send(datagram.bytes, {seconds_to(start_) + datagram.due_s});
        }
        due_.clear();
    }

    // Whoever is late stays late: the stream waits for the receiver, and is never hurried after a pause.
    void wait_for(double due_s) {
        const auto due =
            start_ + std::chrono::duration_cast<NetworkClock::duration>(std::chrono::duration<double>(due_s));
        const auto now = NetworkClock::now();
        if (now > due) {
            start_ += now - due;
        } else {
            sleep_until(due);
        }
    }

    void sleep_until(NetworkClock::time_point due) const {
        constexpr std::chrono::milliseconds kNap{50};
        while (!hurry_.stop_requested() && NetworkClock::now() < due)
            std::this_thread::sleep_until(
                std::min<NetworkClock::time_point>(due, NetworkClock::now() + kNap));
    }

    double seconds_to(NetworkClock::time_point when) const {
        return std::chrono::duration<double>(when - begun_).count();
    }

    std::unique_ptr<NetworkSender> sender_;
    io::TsPacer pacer_;
    bool paced_;
    bool may_wait_;
    std::stop_token hurry_;
    NetworkClock::time_point begun_ = NetworkClock::now();
    NetworkClock::time_point start_ = begun_;
    std::vector<io::TimedDatagram> due_{};
    std::uint64_t last_bytes_ = 0;
    std::optional<SignalTime> came_at_{};  // none: nobody told
    SignalStamps stamps_{};
};

/// Each piece for itself, as it comes.
class NetworkPieces final : public ByteOutput {
  public:
    NetworkPieces(std::unique_ptr<NetworkSender> sender, bool may_wait)
        : sender_(std::move(sender)), may_wait_(may_wait) {}

    void write(std::span<const std::uint8_t> piece) override {
        last_bytes_ = piece.size();
        sender_->send(piece, {});
    }
    void close() override { sender_->close(); }
    bool may_wait() const override { return may_wait_; }
    OutputLosses losses() const override { return sender_->losses(); }
    std::uint64_t bytes_kept_back() const override { return last_bytes_; }

  private:
    std::unique_ptr<NetworkSender> sender_;
    bool may_wait_;
    std::uint64_t last_bytes_ = 0;
};

std::unique_ptr<ByteOutput> sent_by(std::unique_ptr<NetworkSender> sender, const OutputStyle& style,
                                    bool pieces) {
    if (pieces)
        return std::make_unique<NetworkPieces>(std::move(sender), style.when_full == io::WhenFull::wait);
    return std::make_unique<PacedPackets>(std::move(sender), style);
}

}  // namespace

std::unique_ptr<ByteOutput> open_udp_output(const io::NetworkAddress& to, const OutputStyle& style,
                                            bool pieces) {
    return sent_by(std::make_unique<UdpOutput>(to, style.when_full), style, pieces);
}

std::unique_ptr<ByteOutput> open_rtp_output(const io::NetworkAddress& to, const OutputStyle& style,
                                            bool pieces) {
    return sent_by(std::make_unique<RtpOutput>(to, style.when_full), style, pieces);
}

std::unique_ptr<ByteOutput> open_tcp_output(const io::NetworkAddress& at, const OutputStyle& style,
                                            bool pieces) {
    return sent_by(std::make_unique<TcpOutput>(at), style, pieces);
}

}  // namespace tidemill::cli
