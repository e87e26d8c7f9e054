#include "tidemill/apps/outputs/network_outputs.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tidemill/apps/outputs/signal_pace.hpp"
#include "tidemill/apps/outputs/signal_stamps.hpp"
#include "tidemill/io/network/tcp_broadcaster.hpp"
#include "tidemill/io/network/udp_sender.hpp"
#include "tidemill/io/transport/rtp_packetizer.hpp"
#include "tidemill/io/transport/ts_pacer.hpp"

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

OutputLosses losses_of(const io::UdpSender& sender) {
    return {.bytes = sender.bytes_lost(), .refused = sender.refused()};
}

class UdpOutput final : public NetworkSender {
  public:
    UdpOutput(const io::NetworkAddress& to, io::WhenFull when_full) : sender_(to, when_full) {}

    void send(std::span<const std::uint8_t> bytes, const SignalStamp& /*stamp*/) override {
        sender_.send(bytes);
    }
    OutputLosses losses() const override { return losses_of(sender_); }

  private:
    io::UdpSender sender_;
};

class RtpOutput final : public NetworkSender {
  public:
    RtpOutput(const io::NetworkAddress& to, io::WhenFull when_full) : sender_(to, when_full) {}

    void send(std::span<const std::uint8_t> bytes, const SignalStamp& stamp) override {
        sender_.send(rtp_.packet(bytes, stamp.at_s, stamp.jumps));
    }
    OutputLosses losses() const override { return losses_of(sender_); }

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
    // At the end of the stream, for readers; well within a second.
    static constexpr std::chrono::milliseconds kPatience{500};

    io::TcpBroadcaster clients_;
};

/// The signal's clock on the wall, for which the sender waits.
class PacedSender {
  public:
    PacedSender(std::unique_ptr<NetworkSender> sender, const OutputStyle& style)
        : sender_(std::move(sender)),
          by_rate_(style.network_mbps > 0),
          live_(style.live),
          pace_(style.live && !by_rate_),
          hurry_(style.hurry) {}

    void came_at(const SignalTime& time, std::size_t bytes) {
        constexpr double kMostBurstBytes = 32 << 10;
        speed_ = live_ && !by_rate_ ? pace_of_live(time.waiting_s, time.lasts_s) : 1;
        burst_s_ = time.lasts_s * kMostBurstBytes / static_cast<double>(std::max<std::size_t>(bytes, 1));
    }

    void send_now(std::span<const std::uint8_t> bytes, std::optional<double> signal_s) {
        const double now_s = this->now_s();
        sender_->send(bytes, stamps_.at(signal_s.value_or(now_s), now_s));
    }

    void send(std::span<const std::uint8_t> bytes, double signal_s) {
        sleep_until(pace_.due(signal_s, now_s(), speed_, burst_s_));
        send_now(bytes, signal_s);
    }

    NetworkSender& to() { return *sender_; }
    const NetworkSender& to() const { return *sender_; }

  private:
    double now_s() const { return std::chrono::duration<double>(NetworkClock::now() - begun_).count(); }

    void sleep_until(double due_s) const {
        constexpr std::chrono::milliseconds kNap{50};
        constexpr double kSoon_s = 0.0003;  // no sleep is that short
        const auto due =
            begun_ + std::chrono::duration_cast<NetworkClock::duration>(std::chrono::duration<double>(due_s));
        while (!hurry_.stop_requested() && due_s - now_s() > kSoon_s)
            std::this_thread::sleep_until(
                std::min<NetworkClock::time_point>(due, NetworkClock::now() + kNap));
    }

    std::unique_ptr<NetworkSender> sender_;
    bool by_rate_;
    bool live_;
    SignalPace pace_;
    double speed_ = 1;
    double burst_s_ = SignalPace::kMostBurst_s;
    std::stop_token hurry_;
    NetworkClock::time_point begun_ = NetworkClock::now();
    SignalStamps stamps_{};
};

/// Seven packets at a time, each when they are due.
class PacedPackets final : public ByteOutput {
  public:
    PacedPackets(std::unique_ptr<NetworkSender> sender, const OutputStyle& style)
        : sender_(std::move(sender), style),
          pacer_(style.network_mbps > 0 ? std::optional(style.network_mbps * 1e6) : std::nullopt),
          may_wait_(style.paced || style.when_full == io::WhenFull::wait),
          paced_(style.paced),
          by_rate_(style.network_mbps > 0) {}

    void came_at(const SignalTime& time) override { came_at_ = time; }

    void write(std::span<const std::uint8_t> packets) override {
        last_bytes_ = packets.size();
        if (!paced_ || (!came_at_ && !by_rate_)) return send_now(packets);
        const SignalTime came = came_at_.value_or(SignalTime{});
        sender_.came_at(came, packets.size());
        pacer_.push(packets, came.from_s, came.lasts_s, due_);
        send_due();
    }
    void flush() override {
        pacer_.finish(due_);
        send_due();
    }
    void close() override {
        flush();
        sender_.to().close();
    }
    bool may_wait() const override { return may_wait_; }
    OutputLosses losses() const override { return sender_.to().losses(); }
    std::uint64_t bytes_kept_back() const override { return last_bytes_; }

  private:
    // Each stands where in its frame it came.
    void send_now(std::span<const std::uint8_t> packets) {
        for (std::size_t at = 0; at < packets.size(); at += io::kDatagramBytes) {
            const double part = static_cast<double>(at) / static_cast<double>(packets.size());
            std::optional<double> signal_s;
            if (came_at_) signal_s = came_at_->from_s + part * came_at_->lasts_s;
            sender_.send_now(packets.subspan(at, std::min(io::kDatagramBytes, packets.size() - at)),
                             signal_s);
        }
    }

    void send_due() {
        for (const io::TimedDatagram& datagram : due_) sender_.send(datagram.bytes, datagram.due_s);
        due_.clear();
    }

    PacedSender sender_;
    io::TsPacer pacer_;
    bool may_wait_;
    bool paced_;
    bool by_rate_;
    std::vector<io::TimedDatagram> due_{};
    std::uint64_t last_bytes_ = 0;
    std::optional<SignalTime> came_at_{};  // none: nobody has said
};

/// Each piece for itself, when the frame that it came in is due.
class NetworkPieces final : public ByteOutput {
  public:
    NetworkPieces(std::unique_ptr<NetworkSender> sender, const OutputStyle& style)
        : sender_(std::move(sender), style),
          may_wait_(style.paced || style.when_full == io::WhenFull::wait),
          paced_(style.paced) {}

    void came_at(const SignalTime& time) override { came_at_ = time; }

    void write(std::span<const std::uint8_t> piece) override {
        last_bytes_ = piece.size();
        if (!paced_ || !came_at_) return sender_.send_now(piece, {});
        sender_.came_at(*came_at_, piece.size());
        sender_.send(piece, came_at_->from_s);
    }
    void close() override { sender_.to().close(); }
    bool may_wait() const override { return may_wait_; }
    OutputLosses losses() const override { return sender_.to().losses(); }
    std::uint64_t bytes_kept_back() const override { return last_bytes_; }

  private:
    PacedSender sender_;
    bool may_wait_;
    bool paced_;
    std::uint64_t last_bytes_ = 0;
    std::optional<SignalTime> came_at_{};
};

std::unique_ptr<ByteOutput> sent_by(std::unique_ptr<NetworkSender> sender, const OutputStyle& style,
                                    bool pieces) {
    if (pieces) return std::make_unique<NetworkPieces>(std::move(sender), style);
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
