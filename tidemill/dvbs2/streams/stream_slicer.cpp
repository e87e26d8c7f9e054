#include "tidemill/dvbs2/streams/stream_slicer.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/fec/crc8.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr std::uint8_t kMostDeleted = 255;  // EN 302 307-1, D.3

UserPacketLayout checked_layout(const BbHeader& header) {
    const bool is_continuous = header.stream_type == StreamType::generic_continuous;
    if (is_continuous && header.packet_bits == 0) return {.input_bytes = 0};
    const auto layout = is_continuous ? std::nullopt : user_packet_layout(header);
    if (layout) return *layout;
    throw Dvbs2Error(fmt::format(
        "packets of {} bits cannot be sent: give whole bytes, 188 of a transport stream, and 0 for a "
        "continuous stream only",
        header.packet_bits));
}

}  // namespace

StreamSlicer::StreamSlicer(const BbHeader& header, double packet_period_symbols)
    : header_(header), layout_(checked_layout(header)), packet_period_symbols_(packet_period_symbols) {}

void StreamSlicer::feed(std::span<const std::uint8_t> data) {
    stream_.erase(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
    if (layout_.bytes() == 0) {
        stream_.insert(stream_.end(), data.begin(), data.end());
        return;
    }
    if (data.size() % layout_.input_bytes != 0) {
        throw Dvbs2Error(
            fmt::format("the stream is not a whole number of {}-byte packets", layout_.input_bytes));
    }
    for (; !data.empty(); data = data.subspan(layout_.input_bytes)) {
        feed_packet(data.first(layout_.input_bytes));
    }
}

void StreamSlicer::feed_packet(std::span<const std::uint8_t> packet) {
    if (packet[0] != header_.sync) {
        throw Dvbs2Error(
            fmt::format("a packet begins with {:#04x} instead of {:#04x}", packet[0], header_.sync));
    }
    if (layout_.has_dnp && dnp_ < kMostDeleted && io::is_null_packet(packet)) {
        ++dnp_;
        ++null_packets_deleted_;
        deleted_.assign(packet.begin(), packet.end());
    } else {
        append(packet, packets_fed_);
    }
    ++packets_fed_;
}

void StreamSlicer::append(std::span<const std::uint8_t> packet, std::uint64_t number) {
    stream_.push_back(crc_);
    const std::size_t begin = stream_.size();
    stream_.insert(stream_.end(), packet.begin() + 1, packet.end());
    if (layout_.issy_bytes > 0) append_issy(number);
    if (layout_.has_dnp) stream_.push_back(std::exchange(dnp_, std::uint8_t{0}));
    crc_ = fec::crc8(std::span(stream_).subspan(begin));
}

void StreamSlicer::append_issy(std::uint64_t number) {
    stream_.resize(stream_.size() + layout_.issy_bytes);
    const auto came = static_cast<std::uint64_t>(static_cast<double>(number) * packet_period_symbols_);
    write_iscr(came, std::span(stream_).last(layout_.issy_bytes));
}

void StreamSlicer::append_last_deleted() {
    --dnp_;
    --null_packets_deleted_;
    append(deleted_, packets_fed_ - 1);
}

bool StreamSlicer::next(std::span<std::uint8_t> bbframe) {
    const std::size_t data_bytes = bbframe.size() - kBbHeaderBytes;
    if (waiting_bytes() < data_bytes) {
        return false;
    }
    fill(bbframe, data_bytes);
    return true;
}

bool StreamSlicer::finish(std::span<std::uint8_t> bbframe) {
    if (dnp_ > 0) append_last_deleted();
    if (waiting_bytes() == 0) {
        return false;
    }
    fill(bbframe, std::min(waiting_bytes(), bbframe.size() - kBbHeaderBytes));
    return true;
}

std::uint16_t StreamSlicer::sync_distance(std::size_t data_bytes) const {
    if (layout_.bytes() == 0) return 0;  // EN 302 307-1, 5.1.6: the value of continuous streams
    return bytes_to_start_ < data_bytes ? static_cast<std::uint16_t>(8 * bytes_to_start_) : kNoPacketStarts;
}

void StreamSlicer::fill(std::span<std::uint8_t> bbframe, std::size_t data_bytes) {
    assert(bbframe.size() > kBbHeaderBytes && data_bytes > 0);
    header_.data_bits = static_cast<std::uint16_t>(8 * data_bytes);
    header_.sync_distance = sync_distance(data_bytes);
    write_bb_header(header_, bbframe.first<kBbHeaderBytes>());
    const auto data = std::span(stream_).subspan(taken_, data_bytes);
    const auto padding = std::ranges::copy(data, bbframe.begin() + kBbHeaderBytes).out;
    std::fill(padding, bbframe.end(), std::uint8_t{0});
    taken_ += data_bytes;
    if (const std::size_t bytes = layout_.bytes(); bytes > 0) {
        bytes_to_start_ = (bytes_to_start_ + bytes - data_bytes % bytes) % bytes;
    }
}

}  // namespace tidemill::dvbs2
