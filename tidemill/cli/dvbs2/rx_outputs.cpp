#include "tidemill/cli/dvbs2/rx_outputs.hpp"

#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/option.hpp"
#include "tidemill/cli/output.hpp"
#include "tidemill/io/byte_writer.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/ts_pacer.hpp"
#include "tidemill/io/ts_packet.hpp"
#include "tidemill/io/udp_sender.hpp"

namespace tidemill::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLastPort = 65535;

class FileOutput final : public ByteOutput {
  public:
    FileOutput(const std::string& path, bool live) : writer_(path), live_(live) {}

    void write(std::span<const std::uint8_t> bytes) override {
        writer_.write(bytes);
        const auto now = Clock::now();
        if (!live_ && now - flushed_ < kPatience) return;
        writer_.flush();
        flushed_ = now;
    }
    void close() override { writer_.close(); }
    void keep(Archive& archive) override {
        if (!archive.gives_back()) writer_.flush();
        std::uint64_t bytes = writer_.bytes_delivered();
        archive("bytes", bytes);
        if (archive.gives_back()) writer_.go_on_at(bytes);
    }

  private:
    // How long a player that reads along may be kept waiting while bytes trickle in.
    static constexpr std::chrono::milliseconds kPatience{200};

    io::ByteWriter writer_;
    bool live_;
    Clock::time_point flushed_ = Clock::now();
};

/// Packets in datagrams of seven, each when it is due.
class PacketDatagrams final : public ByteOutput {
  public:
    PacketDatagrams(const std::string& url, const RxOutputOptions& options)
        : sender_(io::parse_udp_url(url)),
          pacer_(options.udp_mbps > 0 ? std::optional(options.udp_mbps * 1e6) : std::nullopt),
          paced_(options.paced && (!options.live || options.udp_mbps > 0)),
          hurry_(options.hurry) {}

    void write(std::span<const std::uint8_t> packets) override {
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
    }

  private:
    void send_now(std::span<const std::uint8_t> packets) {
        for (std::size_t at = 0; at < packets.size(); at += io::kDatagramBytes)
            sender_.send(packets.subspan(at, std::min(io::kDatagramBytes, packets.size() - at)));
    }

    void send_due() {
        for (const io::TimedDatagram& datagram : due_) {
            if (paced_) wait_for(datagram.due_s);
            sender_.send(datagram.bytes);
        }
        due_.clear();
    }

    // Whoever is late stays late: the stream waits for the receiver, and is never hurried after a pause.
    void wait_for(double due_s) {
        const auto due =
            start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(due_s));
        const auto now = Clock::now();
        if (now > due) {
            start_ += now - due;
        } else {
            sleep_until(due);
        }
    }

    void sleep_until(Clock::time_point due) const {
        constexpr std::chrono::milliseconds kNap{50};
        while (!hurry_.stop_requested() && Clock::now() < due)
            std::this_thread::sleep_until(std::min<Clock::time_point>(due, Clock::now() + kNap));
    }

    io::UdpSender sender_;
    io::TsPacer pacer_;
    bool paced_;
    std::stop_token hurry_;
    Clock::time_point start_ = Clock::now();
    std::vector<io::TimedDatagram> due_;
};

/// Each piece in a datagram of its own, as it comes.
class PieceDatagrams final : public ByteOutput {
  public:
    explicit PieceDatagrams(const std::string& url) : sender_(io::parse_udp_url(url)) {}

    void write(std::span<const std::uint8_t> bytes) override { sender_.send(bytes); }
    void close() override {}

  private:
    io::UdpSender sender_;
};

void check_address(const std::string& place) {
    try {
        if (io::is_udp_url(place)) io::parse_udp_url(place);
    } catch (const io::IoError& error) {
        throw WrongUsage(error.what());
    }
}

}  // namespace

WantedStreams parse_isi(const std::string& text) {
    if (text == "all") return {.all = true};
    const auto stream = whole_number<std::uint8_t>(text);
    if (!stream) {
        throw WrongUsage(fmt::format("--isi {}: give the number of an input stream, 0 to 255, or all", text));
    }
    return {.only = stream};
}

std::unique_ptr<ByteOutput> open_output(const std::string& place, const RxOutputOptions& options,
                                        bool datagrams) {
    check_address(place);
    return writing([&]() -> std::unique_ptr<ByteOutput> {
        if (!io::is_udp_url(place)) return std::make_unique<FileOutput>(place, options.live);
        if (datagrams) return std::make_unique<PieceDatagrams>(place);
        return std::make_unique<PacketDatagrams>(place, options);
    });
}

std::optional<std::string> place_of_stream(const std::string& place, int stream) {
    if (io::is_udp_url(place)) {
        const io::NetworkAddress address = io::parse_udp_url(place);
        if (address.port + stream > kLastPort) return std::nullopt;
        const bool is_ipv6 = address.host.find(':') != std::string::npos;
        const std::string host = is_ipv6 ? "[" + address.host + "]" : address.host;
        return fmt::format("udp://{}:{}", host, address.port + stream);
    }
    const std::filesystem::path path(place);
    return (path.parent_path() /
            fmt::format("{}.isi{}{}", path.stem().string(), stream, path.extension().string()))
        .string();
}

RxOutputWriter::RxOutputWriter(const RxOutputOptions& options)
    : options_(options), choice_{options.streams.all, options.streams.only, options.damaged} {
    options_.hurry = hurry_.get_token();
    if (choice_.all && is_standard_stream(options.packets)) {
        throw WrongUsage("--isi all writes a file for each input stream: name one with --output");
    }
    if (!options.packets.empty() && !choice_.all) packets_[0] = open_output(options.packets, options_, false);
    if (!options.bbframes.empty()) bbframes_ = open_output(options.bbframes, options_, true);
    if (!options.generic.empty()) generic_ = open_output(options.generic, options_, true);
}

dvbs2::RxOutputs RxOutputWriter::outputs() {
    dvbs2::RxOutputs outputs;
    outputs.choice = choice_;
    outputs.streams.packets = [this](auto packets, std::uint8_t stream) { write_packets(packets, stream); };
    outputs.keep = [this](Archive& archive) { keep(archive); };
    if (generic_) outputs.streams.generic = [this](auto bytes, std::uint8_t) { generic_->write(bytes); };
    if (bbframes_ || options_.also.frames) {
        outputs.frames = [this](const dvbs2::ReceivedFrame& frame) {
            if (bbframes_ && frame.good) bbframes_->write(frame.bbframe);
            if (options_.also.frames) options_.also.frames(frame);
        };
    }
    return outputs;
}

void RxOutputWriter::keep(Archive& archive) {
    std::vector<std::uint8_t> streams;
    for (const auto& [stream, output] : packets_)
        if (output) streams.push_back(static_cast<std::uint8_t>(stream));
    archive.expect("bbframes", bbframes_ != nullptr).expect("generic", generic_ != nullptr);
    archive.expect("packets", !options_.packets.empty())("streams", streams)("monitored", monitored_);
    for (const std::uint8_t stream : streams)
        if (ByteOutput* const output = packet_output(choice_.all ? stream : 0)) output->keep(archive);
    if (bbframes_) bbframes_->keep(archive);
    if (generic_) generic_->keep(archive);
}

void RxOutputWriter::write_packets(std::span<const std::uint8_t> packets, std::uint8_t stream) {
    if (!monitored_) monitored_ = stream;
    if (monitored_ == stream) monitor_->look(packets);
    if (options_.also.streams.packets) options_.also.streams.packets(packets, stream);
    if (options_.packets.empty()) return;
    if (ByteOutput* output = packet_output(choice_.all ? stream : 0)) {
        output->write(packets);
    } else {
        not_sent_[stream] += packets.size() / io::kTsPacketBytes;
    }
}

// The number of a stream comes from the air: one without a place costs its own packets, not the others'.
ByteOutput* RxOutputWriter::packet_output(int stream) {
    auto& output = packets_[stream];
    if (output || not_sent_.contains(stream)) return output.get();
    if (const auto place = place_of_stream(options_.packets, stream))
        output = open_output(*place, options_, false);
    return output.get();
}

void RxOutputWriter::close() {
    writing([&] {
        for (auto& [stream, output] : packets_) {
            if (output) output->close();
        }
        if (bbframes_) bbframes_->close();
        if (generic_) generic_->close();
    });
}

}  // namespace tidemill::cli
