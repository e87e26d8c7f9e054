#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {

/// How much can be handed out, to workers on each kind of core: tasks that are ready, and their work as far
/// as it is known, with that of those behind them which a worker may go on with.
///
/// Counted for each set of kinds that tasks are confined to; there are few, mostly one.
class ReadyWork {
  public:
    struct Amount {
        std::size_t tasks = 0;
        std::uint64_t ticks = 0;
    };

    /// Where tasks for these kinds are counted.
    std::uint32_t group_of(policy::KindSet kinds) {
        const auto known = std::ranges::find(counts_, kinds, &Count::kinds);
        const auto group = static_cast<std::uint32_t>(known - counts_.begin());
        if (known == counts_.end()) counts_.push_back({kinds, {}});
        return group;
    }

    void add(std::uint32_t group, std::uint64_t ticks) {
        ++counts_[group].amount.tasks;
        counts_[group].amount.ticks += ticks;
    }
    /// Behind a task that was added.
    void add_behind(std::uint32_t group, std::uint64_t ticks) { counts_[group].amount.ticks += ticks; }
    void remove(std::uint32_t group, std::uint64_t ticks) {
        --counts_[group].amount.tasks;
        counts_[group].amount.ticks -= ticks;
    }

    bool empty() const {
        return std::ranges::all_of(counts_, [](const Count& each) { return each.amount.tasks == 0; });
    }

    /// For workers on cores of this kind.
    Amount of(policy::KindId kind) const {
        return sum([=](policy::KindSet kinds) { return has(kinds, kind); });
    }
    /// For both.
    Amount of_both(policy::KindId kind, policy::KindId other) const {
        return sum([=](policy::KindSet kinds) { return has(kinds, kind) && has(kinds, other); });
    }
    /// For them, and not for those of the `other` kind.
    Amount of_only(policy::KindId kind, policy::KindId other) const {
        return sum([=](policy::KindSet kinds) { return has(kinds, kind) && !has(kinds, other); });
    }

  private:
    struct Count {
        policy::KindSet kinds;
        Amount amount;
    };

    static bool has(policy::KindSet kinds, policy::KindId kind) { return (kinds >> kind & 1) != 0; }

    template <class Counts>
    Amount sum(Counts counts) const {
        Amount sum;
        for (const Count& each : counts_) {
            if (!counts(each.kinds)) continue;
            sum.tasks += each.amount.tasks;
            sum.ticks += each.amount.ticks;
        }
        return sum;
    }

    std::vector<Count> counts_;
};

}  // namespace tidemill
