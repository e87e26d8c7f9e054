#include "tidemill/dvbs2/send/multiplexer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"

namespace tidemill::dvbs2 {
namespace {

std::uint8_t rolloff_code(double rolloff) {
    constexpr std::array<double, 3> kRolloffs = {0.35, 0.25, 0.20};  // EN 302 307-1, 5.1.6, by code
    for (std::size_t code = 0; code < kRolloffs.size(); ++code) {
        if (std::abs(rolloff - kRolloffs[code]) < 1e-6) return static_cast<std::uint8_t>(code);
    }
    throw Dvbs2Error(fmt::format("roll-off {} does not exist: use 0.35, 0.25 or 0.20", rolloff));
}

bool is_constant(std::span<const PlannedFrame> plan) {
    std::set<int> codes;
    for (const PlannedFrame& frame : plan) {
        if (!frame.pls.is_dummy()) codes.insert(frame.pls.code());
    }
    return codes.size() == 1;
}

void check_packets(const InputStream& stream, std::size_t bytes) {
    constexpr std::size_t kMostPacketBytes = 65535 / 8;  // what UPL can say
    if (bytes > kMostPacketBytes) {
        throw Dvbs2Error(fmt::format("packets of {} bytes cannot be sent: give at most {}",
                                     stream.packet_bytes, kMostPacketBytes));
    }
    const bool is_transport = stream.type == StreamType::transport;
    if (stream.delete_null_packets && !is_transport) {
        throw Dvbs2Error("only transport streams have null packets to delete");
    }
    const bool has_issy = stream.issy_bytes == 2 || (stream.issy_bytes == 3 && is_transport);
    if (stream.issy_bytes != 0 && (stream.packet_bytes == 0 || !has_issy)) {
        throw Dvbs2Error(
            "ISSY is long or short behind the packets of a transport stream, short behind generic ones");
    }
}

BbHeader header_of(const InputStream& stream, const MultiplexerConfig& config) {
    const UserPacketLayout layout{stream.packet_bytes, stream.issy_bytes, stream.delete_null_packets};
    check_packets(stream, layout.bytes());
    BbHeader header;
    header.stream_type = stream.type;
    header.single_input = config.streams.size() == 1;
    header.constant_coding = is_constant(config.plan);
    header.input_sync_indicator = stream.issy_bytes > 0;
    header.null_packet_deletion = stream.delete_null_packets;
    header.rolloff_code = rolloff_code(config.rolloff);
    header.input_stream = header.single_input ? std::uint8_t{0} : stream.number;
    header.packet_bits = static_cast<std::uint16_t>(8 * layout.bytes());
    header.sync = stream.packet_bytes > 0 ? stream.sync : std::uint8_t{0};
    return header;
}

bool may_carry(const PlannedFrame& frame, std::size_t stream) {
    return !frame.pls.is_dummy() && frame.stream.value_or(stream) == stream;
}

void check(const MultiplexerConfig& config) {
    if (config.plan.empty() || config.streams.empty()) {
        throw Dvbs2Error("nothing to send: a plan needs a frame, and a signal an input stream");
    }
    std::set<std::uint8_t> numbers;
    for (const InputStream& stream : config.streams) numbers.insert(stream.number);
    if (numbers.size() < config.streams.size()) {
        throw Dvbs2Error("two input streams have the same number: give each its own");
    }
    for (const PlannedFrame& frame : config.plan) {
        if (frame.stream.value_or(0) >= config.streams.size()) {
            throw Dvbs2Error("a frame is planned for an input stream that is not there");
        }
    }
    for (std::size_t stream = 0; stream < config.streams.size(); ++stream) {
        if (std::ranges::none_of(config.plan,
                                 [&](const PlannedFrame& frame) { return may_carry(frame, stream); })) {
            throw Dvbs2Error(fmt::format("no frame of the plan carries input stream {}: add one that does",
                                         config.streams[stream].number));
        }
    }
}

}  // namespace

Multiplexer::Multiplexer(const MultiplexerConfig& config) : plan_(config.plan), scrambler_(config.gold_code) {
    check(config);
    for (const PlannedFrame& frame : plan_) {
        if (!frame.pls.is_dummy()) modulators_.try_emplace(frame.pls.code(), frame.pls, config.gold_code);
    }
    for (std::size_t i = 0; i < config.streams.size(); ++i) {
        const BbHeader header = header_of(config.streams[i], config);
        const double period_symbols = config.streams[i].packet_period_symbols;
        slicers_.emplace_back(
            header, period_symbols > 0
                        ? period_symbols
                        : planned_symbols_per_byte(i, config.streams.size()) * header.packet_bits / 8.0);
    }
}

// The order of streams repeats itself after as many rounds of the plan as there are streams.
double Multiplexer::planned_symbols_per_byte(std::size_t stream, std::size_t streams) const {
    std::size_t symbols = 0;
    std::size_t bytes = 0;
    std::size_t turn = 0;
    for (std::size_t i = 0; i < streams * plan_.size(); ++i) {
        const PlannedFrame& frame = plan_[i % plan_.size()];
        symbols += static_cast<std::size_t>(layout_of(frame.pls).symbols);
        if (frame.pls.is_dummy()) continue;
        if (frame.stream.value_or(turn) == stream)
            bytes += modulator(frame.pls).bbframe_bytes() - kBbHeaderBytes;
        if (!frame.stream) turn = (turn + 1) % streams;
    }
    return static_cast<double>(symbols) / static_cast<double>(bytes);
}

void Multiplexer::feed(std::size_t stream, std::span<const std::uint8_t> data) {
    slicers_.at(stream).feed(data);
}

std::optional<std::size_t> Multiplexer::next_stream() const {
    return planned().pls.is_dummy() ? std::nullopt : std::optional(stream());
}

std::size_t Multiplexer::missing_bytes() const {
    if (planned().pls.is_dummy()) return 0;
    const std::size_t wanted = modulator(planned().pls).bbframe_bytes() - kBbHeaderBytes;
    return wanted - std::min(wanted, slicers_[stream()].waiting_bytes());
}

std::span<std::uint8_t> Multiplexer::bbframe_of_planned() {
    bbframe_.resize(modulator(planned().pls).bbframe_bytes());
    return bbframe_;
}

std::optional<OutgoingFrame> Multiplexer::next() {
    if (planned().pls.is_dummy()) {
        skip();
        return dummy();
    }
    if (!slicers_[stream()].next(bbframe_of_planned())) return std::nullopt;
    return sent();
}

OutgoingFrame Multiplexer::next_with_null_packets() {
    std::optional<OutgoingFrame> frame = next();
    for (; !frame; frame = next()) {
        slicers_[stream()].feed(io::kNullPacket);
        ++counts_.null_packets;
    }
    return *frame;
}

std::optional<OutgoingFrame> Multiplexer::next_padded() {
    if (planned().pls.is_dummy()) return next();
    if (!slicers_[stream()].finish(bbframe_of_planned())) return std::nullopt;
    return sent();
}

OutgoingFrame Multiplexer::sent() {
    const OutgoingFrame frame{planned().pls, bbframe_};
    ++counts_.frames;
    skip();
    return frame;
}

OutgoingFrame Multiplexer::dummy() {
    ++counts_.dummy_frames;
    return {};
}

void Multiplexer::modulate(const OutgoingFrame& frame, std::span<dsp::Iq> plframe) const {
    if (frame.pls.is_dummy()) {
        std::ranges::copy(dummy_plframe(scrambler_), plframe.begin());
    } else {
        modulator(frame.pls).modulate(frame.bbframe, plframe);
    }
}

bool Multiplexer::append(const std::optional<OutgoingFrame>& frame, std::vector<dsp::Iq>& symbols) const {
    if (!frame) return false;
    const auto count = static_cast<std::size_t>(layout_of(frame->pls).symbols);
    symbols.resize(symbols.size() + count);
    modulate(*frame, std::span(symbols).last(count));
    return true;
}

std::size_t Multiplexer::most_symbols() const {
    int most = layout_of(Pls{}).symbols;
    for (const PlannedFrame& frame : plan_) most = std::max(most, layout_of(frame.pls).symbols);
    return static_cast<std::size_t>(most);
}

MultiplexerCounts Multiplexer::counts() const {
    MultiplexerCounts counts = counts_;
    for (const StreamSlicer& slicer : slicers_) counts.null_packets_deleted += slicer.null_packets_deleted();
    return counts;
}

void Multiplexer::skip() {
    if (!planned().stream && !planned().pls.is_dummy()) turn_ = (turn_ + 1) % slicers_.size();
    position_ = (position_ + 1) % plan_.size();
}

}  // namespace tidemill::dvbs2
