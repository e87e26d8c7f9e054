// How many nanoseconds do the four events of a task cost under each policy? Baseline, in the same run: a
// std::priority_queue of task numbers, which is what oldest first needs at least.

#include <algorithm>
#include <array>
#include <queue>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill::policy {

namespace {

constexpr TaskTypeId kTypes = 8;

// A stream of task types in a row, all of which keep state: a task waits for the one before it and for its
// own task type's last. Of `ready` tasks that are ready, one ends whenever one is created.
class Stream {
  public:
    Stream(Policy& policy, std::uint64_t ready)
        : policy_(policy), slots_(2 * std::max<std::uint64_t>(ready, 16)) {
        while (number_ < ready) create();
    }

    TaskSlot step() {
        create();
        const TaskSlot task = policy_.issue(static_cast<WorkerId>(number_ & 1));
        policy_.complete(task, static_cast<WorkerId>(number_ & 1));
        return task;
    }

  private:
    void create() {
        const auto slot = static_cast<TaskSlot>(number_ % slots_);
        const std::array before{static_cast<TaskSlot>((number_ + slots_ - 1) % slots_),
                                static_cast<TaskSlot>((number_ + slots_ - kTypes) % slots_)};
        policy_.create({.slot = slot,
                        .type = static_cast<TaskTypeId>(number_ % kTypes),
                        .number = number_,
                        .iteration = number_ / kTypes,
                        .predecessors = std::span(before).first(number_ < kTypes ? 0 : 2)});
        policy_.ready(slot);
        ++number_;
    }

    Policy& policy_;
    std::uint64_t slots_;
    std::uint64_t number_ = 0;
};

void events_of_a_task(benchmark::State& state, const std::string& name) {
    const auto policy = make_policy(name, 2);
    Stream stream(*policy, static_cast<std::uint64_t>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(stream.step());
    if (policy->ready_tasks() != static_cast<std::size_t>(state.range(0)))
        state.SkipWithError("tasks were lost");
    state.SetItemsProcessed(state.iterations());
}

void priority_queue(benchmark::State& state) {
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> queue;
    std::uint64_t number = 0;
    for (; number < static_cast<std::uint64_t>(state.range(0)); ++number) queue.push(number);
    for (auto _ : state) {
        queue.push(number++);
        benchmark::DoNotOptimize(queue.top());
        queue.pop();
    }
    state.SetItemsProcessed(state.iterations());
}

const bool kRegistered = [] {
    const auto sizes = [](auto* bench) { bench->Arg(4)->Arg(64)->Arg(1024); };
    sizes(benchmark::RegisterBenchmark("priority_queue", priority_queue));
    for (const PolicyName& each : policies()) {
        // Always some tasks are ready, so lifo would run the newest only, and slots of the others would be
        // taken.
        if (each.name == "lifo") continue;
        sizes(benchmark::RegisterBenchmark(("events/" + std::string(each.name)).c_str(), events_of_a_task,
                                           std::string(each.name)));
    }
    sizes(
        benchmark::RegisterBenchmark("events/toplev,oldest", events_of_a_task, std::string("toplev,oldest")));
    return true;
}();

}  // namespace

}  // namespace tidemill::policy
