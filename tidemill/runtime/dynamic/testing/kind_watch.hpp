#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>
#include <vector>

#include "tidemill/runtime/dynamic/dynamic_units.hpp"
#include "tidemill/runtime/report/observer.hpp"

namespace tidemill::internal {

/// Counts calls, and those on cores of a kind on which the task is not to run.
class KindWatch final : public Observer {
  public:
    KindWatch(std::vector<policy::KindId> kinds, KindsByName only)
        : kinds_(std::move(kinds)), only_(std::move(only)) {}

    ThreadObserver& watch(const ObservedThread& thread) override {
        const bool at_end =
            std::ranges::any_of(thread.plan.steps, [](const Step& step) { return step.told_of_end; });
        return lanes_.emplace_back(*this, at_end ? kAnywhere : kinds_[thread.replica]);
    }

    std::atomic<int> calls{0};
    std::atomic<int> elsewhere{0};

  private:
    // The stages of a stream's end are numbered otherwise.
    static constexpr policy::KindId kAnywhere = ~policy::KindId{};

    struct Lane final : ThreadObserver {
        Lane(KindWatch& its_watch, policy::KindId its_kind) : all(its_watch), kind(its_kind) {}

        void called(const ObservedCall& call) override {
            ++all.calls;
            const auto confined = all.only_.find(call.task.name.substr(0, call.task.name.find('.')));
            if (kind != kAnywhere && confined != all.only_.end() && (confined->second >> kind & 1) == 0)
                ++all.elsewhere;
        }

        KindWatch& all;
        policy::KindId kind;
    };

    std::vector<policy::KindId> kinds_;
    KindsByName only_;
    std::deque<Lane> lanes_;
};

}  // namespace tidemill::internal
