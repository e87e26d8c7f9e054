#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dvbs2/bb_header.hpp"

namespace tidemill::dvbs2 {

/// Slices transport stream packets into BBFRAMEs (EN 302 307-1, 5.1): each sync byte becomes the CRC-8 of the
/// packet before, packets run on from frame to frame.
class TsPacker {
  public:
    /// The MATYPE fields of `header` go into every frame; its lengths are set by the packer.
    explicit TsPacker(const BbHeader& header = {});

    /// Takes whole packets; throws std::invalid_argument when one is not 188 bytes that begin with 0x47.
    void feed(std::span<const std::uint8_t> packets);

    /// Fills a packed BBFRAME of K_bch bits, which may differ from frame to frame; false and nothing done
    /// when the packets taken so far do not fill it.
    bool next(std::span<std::uint8_t> bbframe);

    /// Fills a BBFRAME with all that is left and pads it with zeros; false when nothing is left.
    bool finish(std::span<std::uint8_t> bbframe);

  private:
    void fill(std::span<std::uint8_t> bbframe, std::size_t data_bytes);
    std::size_t waiting_bytes() const { return stream_.size() - taken_; }

    BbHeader header_;
    std::vector<std::uint8_t> stream_;  // packets with CRC-8 in place of the sync byte
    std::size_t taken_ = 0;             // bytes of stream_ that have left
    std::uint8_t crc_ = 0;
    std::size_t bytes_to_start_ = 0;  // from the next byte to leave to the next start of a packet
};

}  // namespace tidemill::dvbs2
