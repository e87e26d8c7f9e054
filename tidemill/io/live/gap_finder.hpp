#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tidemill::io {

/// Finds out how many samples are missing between those that a radio gives: by the times that it gives with
/// them, which is exact, or, where it gives none, by the clock on the wall, which is not.
class GapFinder {
  public:
    explicit GapFinder(double sample_rate_hz) : per_ns_(sample_rate_hz * 1e-9) {}

    /// Samples as they came from the radio, at once.
    struct Block {
        std::uint64_t samples = 0;
        std::optional<std::int64_t> time_ns{};  ///< of the first of them, by the radio's clock
        std::int64_t now_ns = 0;                ///< when they were there, by the wall's
    };

    /// The radio says that it lost some before those that come next.
    void overflow() { overflow_ = true; }

    /// How many are missing before the block, which is none before the first one.
    std::uint64_t before(const Block& block);

    /// Whether the last answer was by the radio's times.
    bool is_exact() const { return exact_; }

  private:
    std::uint64_t by_time(const Block& block) const;
    std::uint64_t by_wall(const Block& block);
    double late_by(const Block& block) const;
    void remember(const Block& block);

    double per_ns_;
    bool overflow_ = false;
    bool exact_ = false;
    bool any_ = false;
    std::optional<std::int64_t> next_time_ns_{};  // of the sample that should come next
    double rest_ns_ = 0;                          // what that time lacks of the right one
    std::int64_t first_now_ns_ = 0;
    double since_first_ = 0;      // samples given and missing
    std::int64_t window_ns_ = 0;  // begin of the present one
    double least_late_ = 0, least_late_before_ = 0;
};

}  // namespace tidemill::io
