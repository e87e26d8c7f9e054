#include "tidemill/tasks/spawn_worker.hpp"

#include "tidemill/platform/tick_clock.hpp"

namespace tidemill {

using policy::TaskSlot;

void SpawnWorker::run(HeldTasks& held) {
    std::uint64_t before = ticks();
    for (std::size_t i = 0; i < held.tasks.size();) {
        start_.store(before, std::memory_order_relaxed);
        const std::uint64_t ran = held.done.ran;
        const std::size_t count = run_alike(held, i);
        const std::uint64_t now = ticks();
        held.ticks.insert(held.ticks.end(), count, (now - before) / count);
        held.done.work_ticks += now - before;
        if (shared_.observe && held.done.ran > ran) observe(held.tasks[i], before, now);
        before = now;
        i += count;
    }
    held.ended_tick = before;
    start_.store(0, std::memory_order_relaxed);
}

void SpawnWorker::observe(TaskSlot task, std::uint64_t start, std::uint64_t end) const {
    const SpawnedTasks& tasks = shared_.tasks;
    shared_.observe(
        {tasks.type_of(task), tasks.number_of(task), tasks.iteration_of(task), index_, start, end});
}

// Runs a task and those of the same task type right behind it; returns how many. Several at a time are so
// short that a look at the clock for each would be much of what they cost.
std::size_t SpawnWorker::run_alike(HeldTasks& held, std::size_t first) {
    const SpawnedTasks& tasks = shared_.tasks;
    const policy::TaskTypeId type = tasks.type_of(held.tasks[first]);
    std::size_t end = first;
    do {
        run_task(held, held.tasks[end++]);
    } while (!shared_.observe && end < held.tasks.size() && tasks.type_of(held.tasks[end]) == type);
    return end - first;
}

void SpawnWorker::run_task(HeldTasks& held, TaskSlot task) {
    const std::uint64_t number = shared_.tasks.number_of(task);
    const policy::TaskTypeId type = shared_.tasks.type_of(task);
    number_.store(number, std::memory_order_relaxed);
    type_.store(type, std::memory_order_relaxed);
    if (shared_.limit.reached(number)) {
        ++held.done.dropped;
    } else {
        try {
            shared_.bodies[task].call();
        } catch (...) {
            held.failures.push_back({number, type, std::current_exception()});
            shared_.limit.drop_from(number);
        }
        ++held.done.ran;
    }
    shared_.bodies[task].clear();
}

std::optional<SpawnWorker::Watched> SpawnWorker::running() const {
    const std::uint64_t start = start_.load(std::memory_order_relaxed);
    if (start == 0) return std::nullopt;
    return Watched{number_.load(std::memory_order_relaxed), type_.load(std::memory_order_relaxed), start};
}

}  // namespace tidemill
