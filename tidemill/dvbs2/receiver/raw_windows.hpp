#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dvbs2/receiver/raw_block.hpp"
#include "tidemill/runtime/graph/archive.hpp"

namespace tidemill::dvbs2 {

/// Cuts a stream of raw samples into blocks with their history in front, one behind the other.
class RawWindows {
  public:
    explicit RawWindows(const RawLayout& layout);

    /// Begins the next window in `raw` with the history; where the samples of its block go.
    std::span<std::byte> begin(std::span<std::byte> raw) const;

    /// So many samples were put there, a whole block but at the end.
    RawInfo end(std::span<const std::byte> raw, std::size_t filled);

    /// Whether a block of nothing, behind the last sample, would still bring out samples.
    bool filters_hold_samples() const;

    /// Samples so far.
    std::uint64_t samples() const { return samples_; }

    void keep(Archive& archive);

  private:
    const RawLayout layout_;
    std::vector<std::byte> history_;  // the last window's end
    std::int64_t block_ = 0;
    std::uint64_t samples_ = 0;
};

}  // namespace tidemill::dvbs2
