#include "tidemill/apps/transmission/tx_input.hpp"

#include <algorithm>
#include <filesystem>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "tidemill/apps/transmission/packet_source.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/plural.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/network/udp_receiver.hpp"
#include "tidemill/io/transport/byte_reader.hpp"
#include "tidemill/io/transport/ts_aligner.hpp"
#include "tidemill/io/transport/ts_datagrams.hpp"
#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

/// Bytes or packets of a file, a pipe or standard input.
class FileInput final : public TxInput {
  public:
    FileInput(const std::string& path, const TxInputOptions& options)
        : path_(path),
          reader_(path),
          unit_bytes_(options.unit_bytes),
          aligner_(options.unit_bytes, options.sync),
          repeats_left_(options.repeat - 1),
          may_wait_(is_stream(path)) {
        // One unit is read ahead: an empty input must not look like a signal.
        while (units_.empty() && !ended_ && seen_ < kMostSearched) read_more(unit_bytes_);
        if (!units_.empty()) return;
        if (seen_ < unit_bytes_)
            throw io::IoError(fmt::format("'{}' holds nothing to send: it has less than {} byte{}", path,
                                          unit_bytes_, plural(unit_bytes_)));
        throw io::IoError(fmt::format(
            "'{}' holds no packets to send: in its first {} bytes no three sync bytes ({:#04x}) are as far "
            "from one another as packets of {} bytes are{}",
            path, seen_, options.sync, unit_bytes_,
            unit_bytes_ == io::kTsPacketBytes ? ", nor 192 or 204 bytes" : ""));
    }

    std::span<const std::uint8_t> take(std::size_t most_bytes, double) override {
        units_.erase(units_.begin(), units_.begin() + static_cast<std::ptrdiff_t>(taken_));
        taken_ = 0;
        while (units_.size() < most_bytes && !ended_) read_more(most_bytes - units_.size());
        taken_ = std::min(most_bytes, units_.size());
        return std::span<const std::uint8_t>(units_).first(taken_);
    }

    bool ended() const override { return ended_ && taken_ == units_.size(); }
    bool may_wait() const override { return may_wait_; }
    void end() noexcept override { reader_.end(); }
    std::uint64_t bytes_left_out() const override { return aligner_.counts().bytes_left_out; }
    std::string remark() const override {
        const io::AlignerCounts& counts = aligner_.counts();
        if (counts.losses == 0 && counts.bytes_left_out >= unit_bytes_)
            return fmt::format("'{}': {} bytes hold no packets and were left out", path_,
                               counts.bytes_left_out);
        if (counts.losses == 0) return {};
        return fmt::format(
            "'{}': no packet began in {} place{} where one had to, first at byte {}; {} bytes "
            "were left out",
            path_, counts.losses, plural(counts.losses), counts.first_at, counts.bytes_left_out);
    }

  private:
    static constexpr std::uint64_t kMostSearched = 1 << 20;

    static bool is_stream(const std::string& path) {
        std::error_code unknown;
        return !std::filesystem::is_regular_file(path, unknown);
    }

    void read_more(std::size_t wanted) {
        bytes_.resize(wanted);
        const std::size_t got = reader_.read(bytes_);
        seen_ += got;
        take_units(std::span<const std::uint8_t>(bytes_).first(got));
        if (got < wanted) end_of_file();
    }

    void take_units(std::span<const std::uint8_t> bytes) {
        if (unit_bytes_ == 1) {
            units_.insert(units_.end(), bytes.begin(), bytes.end());
            return;
        }
        const std::uint64_t losses = aligner_.counts().losses;
        aligner_.push(bytes, units_);
        if (losses == 0 && aligner_.counts().losses > 0)
            warn(
                fmt::format("'{}': no packet begins at byte {}, where one has to; the next ones are searched",
                            path_, aligner_.counts().first_at));
    }

    // A part of a unit at the end is left out.
    void end_of_file() {
        if (unit_bytes_ > 1) aligner_.finish(units_);
        ended_ = repeats_left_ == 0 || !reader_.rewind();
        repeats_left_ -= ended_ ? 0U : 1U;
    }

    std::string path_;
    io::ByteReader reader_;
    std::size_t unit_bytes_;
    io::TsAligner aligner_;
    std::uint64_t repeats_left_;
    bool may_wait_;
    std::uint64_t seen_ = 0;           // bytes that were read
    std::vector<std::uint8_t> bytes_;  // as they were read
    std::vector<std::uint8_t> units_;  // found in them
    std::size_t taken_ = 0;            // of these
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
    std::string remark() const override { return input_->remark(); }

  private:
    std::unique_ptr<TxInput> input_;
    std::size_t unit_bytes_;
    double bytes_per_s_;
    std::uint64_t taken_ = 0;
};

class UdpInput final : public TxInput {
  public:
    UdpInput(const std::string& url, const io::NetworkAddress& at, const TxInputOptions& options)
        : url_(url), receiver_(at), datagrams_(options.unit_bytes, options.sync) {}

    std::span<const std::uint8_t> take(std::size_t most_bytes, double) override {
        kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(taken_));
        for (auto datagram = receiver_.next(); !datagram.empty(); datagram = receiver_.next()) keep(datagram);
        taken_ = std::min(most_bytes, kept_.size());
        return std::span<const std::uint8_t>(kept_).first(taken_);
    }

    bool ended() const override { return false; }
    bool may_wait() const override { return true; }
    bool is_live() const override { return true; }
    std::uint64_t bytes_left_out() const override {
        return datagrams_.counts().bytes_left_out + bytes_without_room_;
    }
    std::string remark() const override {
        const io::DatagramCounts& counts = datagrams_.counts();
        std::string text;
        if (counts.datagrams_left_out > 0)
            text +=
                fmt::format(", {} datagrams held no packets and were left out", counts.datagrams_left_out);
        if (counts.rtp_missing > 0) text += fmt::format(", {} RTP packets did not come", counts.rtp_missing);
        if (counts.rtp_late > 0)
            text += fmt::format(", {} RTP packets came twice or late and were left out", counts.rtp_late);
        if (bytes_without_room_ > 0)
            text += fmt::format(", {} bytes came faster than they can be sent", bytes_without_room_);
        return text.empty() ? text : fmt::format("'{}': {}", url_, text.substr(2));
    }

  private:
    // Several seconds of any signal: more only delays what comes later.
    static constexpr std::size_t kMostBytes = 32 << 20;

    void keep(std::span<const std::uint8_t> datagram) {
        if (kept_.size() + datagram.size() > kMostBytes) {
            bytes_without_room_ += datagram.size();
        } else if (!datagrams_.push(datagram, kept_) && datagrams_.counts().datagrams_left_out == 1) {
            warn(
                fmt::format("'{}': a datagram of {} bytes holds no packets, neither as they are nor behind "
                            "the header of RTP; such ones are left out",
                            url_, datagram.size()));
        }
    }

    std::string url_;
    io::UdpReceiver receiver_;
    io::TsDatagrams datagrams_;
    std::vector<std::uint8_t> kept_;
    std::size_t taken_ = 0;
    std::uint64_t bytes_without_room_ = 0;
};

std::unique_ptr<TxInput> paced(std::unique_ptr<TxInput> input, const TxInputOptions& options) {
    if (!options.rate_mbps) return input;
    return std::make_unique<PacedInput>(std::move(input), options);
}

}  // namespace

std::unique_ptr<TxInput> open_tx_input(const std::string& place, const TxInputOptions& options) {
    // RTP is understood by itself, whatever the place is called.
    const bool is_rtp = io::is_network_url("rtp", place);
    if (!is_rtp && !io::is_udp_url(place)) return paced(std::make_unique<FileInput>(place, options), options);
    if (options.rate_mbps) throw WrongUsage("--input-rate is for files: datagrams have a rate of their own");
    const io::NetworkAddress at = io::parse_datagram_url(is_rtp ? "rtp" : "udp", place);
    if (at.ttl) throw WrongUsage(fmt::format("{}: ttl= is for what is sent, and here is listened", place));
    return std::make_unique<UdpInput>(place, at, options);
}

std::unique_ptr<TxInput> endless_tx_input(std::size_t unit_bytes, std::uint8_t sync) {
    return std::make_unique<EndlessInput>(unit_bytes, sync);
}

std::unique_ptr<TxInput> random_tx_input(std::uint64_t packets, std::uint64_t seed,
                                         const TxInputOptions& options) {
    return paced(std::make_unique<RandomInput>(packets, seed), options);
}

}  // namespace tidemill::cli
