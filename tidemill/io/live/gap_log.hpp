#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "tidemill/io/live/live_source.hpp"

namespace tidemill::io {

/// Samples that are missing at one place.
struct SampleGap {
    std::uint64_t at = 0;         ///< how many came before them, silence for others included
    std::uint64_t samples = 0;    ///< that are missing
    std::uint64_t estimated = 0;  ///< of these, by the clock on the wall
};

/// Where samples are missing: the latest places.
class GapLog {
  public:
    static constexpr std::size_t kMost = 16;

    void add(const SampleGap& gap);
    /// The latest one goes on.
    void grow(const SampleGap& more);
    /// Takes the total that a source has lost by now; the new part lies before sample `at`.
    void look(std::uint64_t at, const SampleLosses& lost);

    /// From the earliest to the latest.
    std::vector<SampleGap> latest() const { return {gaps_.begin(), gaps_.end()}; }

  private:
    std::deque<SampleGap> gaps_{};
    SampleLosses seen_{};  // of the source
};

}  // namespace tidemill::io
