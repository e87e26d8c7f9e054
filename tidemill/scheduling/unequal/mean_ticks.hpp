#pragma once

#include <algorithm>
#include <cstdint>

namespace tidemill::bridge {

/// Mean time of a task type's tasks, by the last few of them. One that takes much longer counts as a few
/// times the mean: mostly its thread has lost the core, and what is to be handed out must not follow that.
class MeanTicks {
  public:
    void note(std::uint64_t ticks) {
        const std::uint64_t least = std::max<std::uint64_t>(1, ticks);
        mean_ = mean_ == 0 ? least : (3 * mean_ + std::min(least, kLongest * mean_) + 2) / 4;
    }

    /// A call of many that are alike: of what they have in common more is known than of the last few.
    void note_slowly(std::uint64_t ticks) {
        mean_ = std::max<std::uint64_t>(1, (15 * mean_ + ticks + 8) / 16);
    }

    /// Without a call: all that is known has changed by this factor.
    void scale(double factor) {
        mean_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(mean_) * factor));
    }

    bool known() const { return mean_ != 0; }
    /// 0 where it is not known.
    std::uint64_t value() const { return mean_; }
    std::uint64_t value_or(std::uint64_t other) const { return known() ? mean_ : other; }

  private:
    static constexpr std::uint64_t kLongest = 8;

    std::uint64_t mean_ = 0;
};

}  // namespace tidemill::bridge
