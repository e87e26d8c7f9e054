#include "tidemill/dvbs2/stream_slicer.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/fec/crc8.hpp"

namespace tidemill::dvbs2 {
namespace {

std::size_t checked_packet_bytes(const BbHeader& header) {
    const bool is_continuous = header.stream_type == StreamType::generic_continuous;
    if (header.packet_bits % 8 != 0 || is_continuous != (header.packet_bits == 0)) {
        throw std::invalid_argument(fmt::format(
            "packets of {} bits cannot be sent: give whole bytes, and 0 for a continuous stream only",
            header.packet_bits));
    }
    return header.packet_bits / 8U;
}

}  // namespace

StreamSlicer::StreamSlicer(const BbHeader& header)
    : header_(header), packet_bytes_(checked_packet_bytes(header)) {}

void StreamSlicer::feed(std::span<const std::uint8_t> data) {
    stream_.erase(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
    if (packet_bytes_ == 0) {
        stream_.insert(stream_.end(), data.begin(), data.end());
    } else {
        feed_packets(data);
    }
}

void StreamSlicer::feed_packets(std::span<const std::uint8_t> packets) {
    if (packets.size() % packet_bytes_ != 0) {
        throw std::invalid_argument(
            fmt::format("the stream is not a whole number of {}-byte packets", packet_bytes_));
    }
    for (; !packets.empty(); packets = packets.subspan(packet_bytes_)) {
        if (packets[0] != header_.sync) {
            throw std::invalid_argument(
                fmt::format("a packet begins with {:#04x} instead of {:#04x}", packets[0], header_.sync));
        }
        const auto body = packets.subspan(1, packet_bytes_ - 1);
        stream_.push_back(crc_);
        stream_.insert(stream_.end(), body.begin(), body.end());
        crc_ = fec::crc8(body);
    }
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
    if (waiting_bytes() == 0) {
        return false;
    }
    fill(bbframe, std::min(waiting_bytes(), bbframe.size() - kBbHeaderBytes));
    return true;
}

std::uint16_t StreamSlicer::sync_distance(std::size_t data_bytes) const {
    if (packet_bytes_ == 0) return 0;  // EN 302 307-1, 5.1.6: the value of continuous streams
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
    if (packet_bytes_ > 0) {
        bytes_to_start_ = (bytes_to_start_ + packet_bytes_ - data_bytes % packet_bytes_) % packet_bytes_;
    }
}

}  // namespace tidemill::dvbs2
