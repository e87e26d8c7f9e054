#include "tidemill/cli/dvbs2/tx_input.hpp"

#include <algorithm>
#include <filesystem>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/dvbs2/packet_source.hpp"
#include "tidemill/io/byte_reader.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/ts_packet.hpp"
#include "tidemill/io/udp_receiver.hpp"

namespace tidemill::cli {

namespace {

class FileInput final : public TxInput {
  public:
    FileInput(const std::string& path, const TxInputOptions& options)
        : reader_(path),
          unit_bytes_(options.unit_bytes),
          repeats_left_(options.repeat - 1),
          may_wait_(is_stream(path)) {
        // One unit is read ahead: an empty input must not look like a signal.
        ahead_.resize(unit_bytes_);
        if (reader_.read(ahead_) == unit_bytes_) return;
        throw io::IoError(fmt::format("'{}' holds nothing to send: it has less than {} byte{}", path,
                                      unit_bytes_, unit_bytes_ == 1 ? "" : "s"));
    }

    std::span<const std::uint8_t> take(std::size_t most_bytes, double) override {
        bytes_.swap(ahead_);
        ahead_.clear();
        std::size_t done = bytes_.size();
        bytes_.resize(std::max(done, most_bytes));
        while (done < bytes_.size() && !ended_) {
            done += reader_.read(std::span(bytes_).subspan(done));
            if (done < bytes_.size()) done = end_of_file(done);
        }
        const auto all = std::span<const std::uint8_t>(bytes_).first(done);
        ahead_.assign(all.begin() + static_cast<std::ptrdiff_t>(std::min(most_bytes, done)), all.end());
        return all.first(std::min(most_bytes, done));
    }

    bool ended() const override { return ended_; }
    bool may_wait() const override { return may_wait_; }
    void end() noexcept override { reader_.end(); }
    std::uint64_t bytes_left_out() const override { return trailing_bytes_; }

  private:
    static bool is_stream(const std::string& path) {
        std::error_code unknown;
        return !std::filesystem::is_regular_file(path, unknown);
    }

    // What remains of a unit at the end is left out; returns the bytes that count.
    std::size_t end_of_file(std::size_t done) {
        trailing_bytes_ += done % unit_bytes_;
        ended_ = repeats_left_ == 0 || !reader_.rewind();
        repeats_left_ -= ended_ ? 0U : 1U;
        return done - done % unit_bytes_;
    }

    io::ByteReader reader_;
    std::size_t unit_bytes_;
    std::uint64_t repeats_left_;
    bool may_wait_;
    std::vector<std::uint8_t> ahead_;
    std::vector<std::uint8_t> bytes_;
    std::uint64_t trailing_bytes_ = 0;
    bool ended_ = false;
};

class RandomInput final : public TxInput {
  public:
    RandomInput(std::uint64_t packets, std::uint64_t seed)
        : source_(PacketSource::random(packets, seed)), packets_left_(packets) {}

    std::span<const std::uint8_t> take(std::size_t most_bytes, double) override {
        kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(taken_));
        while (kept_.size() < most_bytes && packets_left_ > 0) {
            const auto packets = source_.next();
            packets_left_ -= packets.size() / io::kTsPacketBytes;
            kept_.insert(kept_.end(), packets.begin(), packets.end());
        }
        taken_ = std::min(most_bytes, kept_.size());
        return std::span<const std::uint8_t>(kept_).first(taken_);
    }

    bool ended() const override { return packets_left_ == 0 && taken_ == kept_.size(); }

  private:
    PacketSource source_;
    std::uint64_t packets_left_;
    std::vector<std::uint8_t> kept_;
    std::size_t taken_ = 0;
};

class EndlessInput final : public TxInput {
  public:
    EndlessInput(std::size_t unit_bytes, std::uint8_t sync) : unit_bytes_(unit_bytes), sync_(sync) {}

    std::span<const std::uint8_t> take(std::size_t most_bytes, double) override {
        while (bytes_.size() < most_bytes) {
            const bool is_sync = bytes_.size() % unit_bytes_ == 0;
            bytes_.push_back(is_sync ? sync_ : static_cast<std::uint8_t>(generator_() >> 24));
        }
        return std::span<const std::uint8_t>(bytes_).first(most_bytes);
    }

    bool ended() const override { return false; }

  private:
    std::size_t unit_bytes_;
    std::uint8_t sync_;
    std::minstd_rand generator_;
    std::vector<std::uint8_t> bytes_;
};

/// Another input, of which only what would have come by now is there.
class PacedInput final : public TxInput {
  public:
    PacedInput(std::unique_ptr<TxInput> input, const TxInputOptions& options)
        : input_(std::move(input)),
          unit_bytes_(options.unit_bytes),
          bytes_per_s_(*options.rate_mbps * 1e6 / 8) {}

    std::span<const std::uint8_t> take(std::size_t most_bytes, double signal_s) override {
        constexpr double kMost = 0x1p50;  // beyond any input, and far from overflow in bytes
        const auto units = static_cast<std::uint64_t>(
            std::min(kMost, signal_s * bytes_per_s_ / static_cast<double>(unit_bytes_)));
        const auto bytes =
            input_->take(std::min<std::uint64_t>(most_bytes, units * unit_bytes_ - taken_), signal_s);
        taken_ += bytes.size();
        return bytes;
    }

    bool ended() const override { return input_->ended(); }
    bool may_wait() const override { return input_->may_wait(); }
    void end() noexcept override { input_->end(); }
    std::uint64_t bytes_left_out() const override { return input_->bytes_left_out(); }

  private:
    std::unique_ptr<TxInput> input_;
    std::size_t unit_bytes_;
    double bytes_per_s_;
    std::uint64_t taken_ = 0;
};

class UdpInput final : public TxInput {
  public:
    UdpInput(const std::string& url, const TxInputOptions& options)
        : receiver_(io::parse_udp_url(url)), unit_bytes_(options.unit_bytes) {}

    std::span<const std::uint8_t> take(std::size_t most_bytes, double) override {
        kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(taken_));
        for (auto datagram = receiver_.next(); !datagram.empty(); datagram = receiver_.next()) keep(datagram);
        taken_ = std::min(most_bytes, kept_.size());
        return std::span<const std::uint8_t>(kept_).first(taken_);
    }

    bool ended() const override { return false; }
    bool may_wait() const override { return true; }
    bool is_live() const override { return true; }
    std::uint64_t bytes_left_out() const override { return bytes_left_out_; }

  private:
    // Several seconds of any signal: more only delays what comes later.
    static constexpr std::size_t kMostBytes = 32 << 20;

    void keep(std::span<const std::uint8_t> datagram) {
        if (datagram.size() % unit_bytes_ != 0 || kept_.size() + datagram.size() > kMostBytes) {
            bytes_left_out_ += datagram.size();
        } else {
            kept_.insert(kept_.end(), datagram.begin(), datagram.end());
        }
    }

    io::UdpReceiver receiver_;
    std::size_t unit_bytes_;
    std::vector<std::uint8_t> kept_;
    std::size_t taken_ = 0;
    std::uint64_t bytes_left_out_ = 0;
};

std::unique_ptr<TxInput> paced(std::unique_ptr<TxInput> input, const TxInputOptions& options) {
    if (!options.rate_mbps) return input;
    return std::make_unique<PacedInput>(std::move(input), options);
}

}  // namespace

std::unique_ptr<TxInput> open_tx_input(const std::string& place, const TxInputOptions& options) {
    if (!io::is_udp_url(place)) return paced(std::make_unique<FileInput>(place, options), options);
    if (options.rate_mbps) throw WrongUsage("--input-rate is for files: datagrams have a rate of their own");
    return std::make_unique<UdpInput>(place, options);
}

std::unique_ptr<TxInput> endless_tx_input(std::size_t unit_bytes, std::uint8_t sync) {
    return std::make_unique<EndlessInput>(unit_bytes, sync);
}

std::unique_ptr<TxInput> random_tx_input(std::uint64_t packets, std::uint64_t seed,
                                         const TxInputOptions& options) {
    return paced(std::make_unique<RandomInput>(packets, seed), options);
}

}  // namespace tidemill::cli
