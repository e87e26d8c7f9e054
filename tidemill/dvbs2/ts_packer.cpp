#include "tidemill/dvbs2/ts_packer.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include "tidemill/fec/crc8.hpp"
#include "tidemill/io/ts_packet.hpp"

namespace tidemill::dvbs2 {
namespace {

using io::kTsPacketBytes;

}  // namespace

TsPacker::TsPacker(const BbHeader& header) : header_(header) {}

void TsPacker::feed(std::span<const std::uint8_t> packets) {
    if (packets.size() % kTsPacketBytes != 0) {
        throw std::invalid_argument("the transport stream is not a whole number of 188-byte packets");
    }
    stream_.erase(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
    for (; !packets.empty(); packets = packets.subspan(kTsPacketBytes)) {
        if (packets[0] != io::kTsSyncByte) {
            throw std::invalid_argument("a transport stream packet does not begin with 0x47");
        }
        const auto body = packets.subspan(1, kTsPacketBytes - 1);
        stream_.push_back(crc_);
        stream_.insert(stream_.end(), body.begin(), body.end());
        crc_ = fec::crc8(body);
    }
}

bool TsPacker::next(std::span<std::uint8_t> bbframe) {
    const std::size_t data_bytes = bbframe.size() - kBbHeaderBytes;
    if (waiting_bytes() < data_bytes) {
        return false;
    }
    fill(bbframe, data_bytes);
    return true;
}

bool TsPacker::finish(std::span<std::uint8_t> bbframe) {
    if (waiting_bytes() == 0) {
        return false;
    }
    fill(bbframe, std::min(waiting_bytes(), bbframe.size() - kBbHeaderBytes));
    return true;
}

void TsPacker::fill(std::span<std::uint8_t> bbframe, std::size_t data_bytes) {
    assert(bbframe.size() > kBbHeaderBytes && data_bytes > 0);
    header_.packet_bits = 8 * kTsPacketBytes;
    header_.data_bits = static_cast<std::uint16_t>(8 * data_bytes);
    header_.sync_distance =
        bytes_to_start_ < data_bytes ? static_cast<std::uint16_t>(8 * bytes_to_start_) : kNoPacketStarts;
    write_bb_header(header_, bbframe.first<kBbHeaderBytes>());
    const auto data = std::span(stream_).subspan(taken_, data_bytes);
    const auto padding = std::ranges::copy(data, bbframe.begin() + kBbHeaderBytes).out;
    std::fill(padding, bbframe.end(), std::uint8_t{0});
    taken_ += data_bytes;
    bytes_to_start_ = (bytes_to_start_ + kTsPacketBytes - data_bytes % kTsPacketBytes) % kTsPacketBytes;
}

}  // namespace tidemill::dvbs2
