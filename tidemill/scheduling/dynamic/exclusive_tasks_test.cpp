#include "tidemill/scheduling/dynamic/exclusive_tasks.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace tidemill::policy {

using Needs = std::vector<ExclusionId>;

TEST_CASE("who has waited longest for something comes first") {
    ExclusiveTasks tasks;
    const Needs x{0};
    for (const TaskSlot task : {0u, 1u, 2u}) tasks.create(task, x);
    CHECK(tasks.gets_what_it_needs(0));
    CHECK_FALSE(tasks.gets_what_it_needs(2));
    CHECK_FALSE(tasks.gets_what_it_needs(1));
    CHECK(tasks.gets_what_it_needs(7));  // needs nothing
    std::vector<TaskSlot> ready;
    const auto note = [&](TaskSlot task) { ready.push_back(task); };
    tasks.complete(0, note);
    CHECK(ready == std::vector<TaskSlot>{2});
    tasks.complete(2, note);
    tasks.complete(7, note);
    tasks.complete(1, note);
    CHECK(ready == std::vector<TaskSlot>{2, 1});
}

TEST_CASE("whatever tasks need, no two have the same at once, one at least is ready, and all complete") {
    CHECK(rc::check("exclusive", [] {
        constexpr std::size_t kThings = 4;
        const auto count = *rc::gen::inRange<TaskSlot>(1, 40);
        ExclusiveTasks tasks;
        std::vector<Needs> needs(count);
        for (TaskSlot task = 0; task < count; ++task) {
            for (ExclusionId id = 0; id < kThings; ++id) {
                if (*rc::gen::inRange(0, 3) == 0) needs[task].push_back(id);
            }
            tasks.create(task, needs[task]);
        }
        std::array<bool, kThings> taken{};
        std::vector<TaskSlot> ready;
        const auto begin = [&](TaskSlot task) {
            for (const ExclusionId id : needs[task]) {
                RC_ASSERT(!taken[id]);
                taken[id] = true;
            }
            ready.push_back(task);
        };
        TaskSlot completed = 0;
        for (TaskSlot arrived = 0; completed < count;) {
            const bool arrives = arrived < count && (ready.empty() || *rc::gen::arbitrary<bool>());
            if (arrives) {
                if (tasks.gets_what_it_needs(arrived)) begin(arrived);
                ++arrived;
                continue;
            }
            RC_ASSERT(!ready.empty());
            const auto at = ready.begin() + *rc::gen::inRange<long>(0, static_cast<long>(ready.size()));
            const TaskSlot task = *at;
            ready.erase(at);
            for (const ExclusionId id : needs[task]) taken[id] = false;
            tasks.complete(task, begin);
            ++completed;
        }
    }));
}

}  // namespace tidemill::policy
