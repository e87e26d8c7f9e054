#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tidemill/scheduling/dynamic/policy.hpp"
#include "tidemill/scheduling/unequal/mean_ticks.hpp"

namespace tidemill::bridge {

/// Times of each task type's tasks on each kind of core, by the last few calls. A kind on which a task type
/// never ran is unknown, whatever is known of it elsewhere.
class TaskTimes {
  public:
    /// Kinds of cores are numbered below `kinds`.
    explicit TaskTimes(std::size_t kinds) : kinds_(kinds) {}

    /// Task types are numbered below this; none is forgotten.
    void resize(std::size_t types) { means_.resize(std::max(means_.size(), types * kinds_)); }

    std::size_t types() const { return means_.size() / kinds_; }
    std::size_t kinds() const { return kinds_; }

    MeanTicks& on(policy::KindId kind, policy::TaskTypeId type) { return means_[type * kinds_ + kind]; }
    const MeanTicks& on(policy::KindId kind, policy::TaskTypeId type) const {
        return means_[type * kinds_ + kind];
    }

    /// Where it takes least, of the kinds that it has run on; 0 where it never ran.
    std::uint64_t least(policy::TaskTypeId type) const {
        const MeanTicks* const mean = &means_[type * kinds_];
        std::uint64_t least = mean->value();
        for (std::size_t kind = 1; kind < kinds_; ++kind) {
            // 0 stands for not known, and is never the least
            if (mean[kind].value() - 1 < least - 1) least = mean[kind].value();
        }
        return least;
    }
    std::uint64_t least_or(policy::TaskTypeId type, std::uint64_t other) const {
        const std::uint64_t known = least(type);
        return known != 0 ? known : other;
    }

  private:
    std::size_t kinds_;
    std::vector<MeanTicks> means_;  // [type x kinds + kind]
};

}  // namespace tidemill::bridge
