#pragma once

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/scheduling/static/interruption.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill::internal {

/// Counts what a search looks at, so that one that would take hours is refused after a minute or two; by a
/// number and not by a clock, so that every machine refuses the same ones.
class Effort {
  public:
    explicit Effort(std::string_view strategy) : strategy_(strategy) {}

    /// Throws ScheduleError where these steps would be too many, and Interrupted where the search was asked
    /// to end.
    void spend(std::uint64_t steps) {
        interruption_point();
        if (steps > left_)
            throw ScheduleError(fmt::format(
                "{}: this takes more than {} steps, which is the bound; give fewer tasks, cores or slowdowns",
                strategy_, kMost));
        left_ -= steps;
    }

  private:
    static constexpr std::uint64_t kMost = 100'000'000'000;

    std::string_view strategy_;
    std::uint64_t left_ = kMost;
};

}  // namespace tidemill::internal
