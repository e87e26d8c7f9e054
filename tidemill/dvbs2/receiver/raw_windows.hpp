#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dvbs2/receiver/raw_block.hpp"
#include "tidemill/graph/archive.hpp"

namespace tidemill::dvbs2 {

/// Cuts a stream of raw samples into blocks with their history in front, one behind the other.
class RawWindows {
  public:
    explicit RawWindows(const RawLayout& layout) : layout_(layout), window_(layout.window_bytes()) {}

    /// Where the samples of the next block go; what was in the last one becomes history.
    std::span<std::byte> next();

    /// So many samples were put there, a whole block but at the end. Writes the window.
    RawInfo cut(std::size_t filled, std::span<std::byte> raw);

    /// Whether a block of nothing, behind the last sample, would still bring out samples.
    bool filters_hold_samples() const;

    /// Samples so far.
    std::uint64_t samples() const { return samples_; }

    void keep(Archive& archive);

  private:
    const RawLayout layout_;
    std::vector<std::byte> window_;
    std::int64_t block_ = 0;
    std::uint64_t samples_ = 0;
};

}  // namespace tidemill::dvbs2
