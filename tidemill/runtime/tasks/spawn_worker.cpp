#include "tidemill/runtime/tasks/spawn_worker.hpp"

#include <utility>

#include <cxxabi.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/machine/tick_clock.hpp"

namespace tidemill {

using policy::TaskSlot;

// If a forced unwind ends the thread in a task, the next call goes on after that task.
void SpawnWorker::run(HeldTasks& held) {
    held.ticks.reserve(held.tasks.size());
    std::uint64_t before = ticks();
    while (held.ticks.size() < held.tasks.size()) {
        start_.store(before, std::memory_order_relaxed);
        const std::size_t first = held.ticks.size();
        const std::uint64_t ran = held.done.ran;
        std::size_t end = first;
        try {
            run_alike(held, end);
        } catch (const abi::__forced_unwind&) {
            held.ticks.resize(end, 0);
            throw;
        }
        const std::uint64_t now = ticks();
        held.ticks.resize(end, (now - before) / (end - first));
        held.done.work_ticks += now - before;
        if (shared_.observe && held.done.ran > ran) observe(held, held.tasks[first], before, now);
        before = now;
    }
    held.ended_tick = before;
    start_.store(0, std::memory_order_relaxed);
}

// An exception of the observer is its task's error.
void SpawnWorker::observe(HeldTasks& held, TaskSlot task, std::uint64_t start, std::uint64_t end) const {
    const SpawnedTasks& tasks = shared_.tasks;
    const ObservedTask observed{
        tasks.type_of(task), tasks.number_of(task), tasks.iteration_of(task), index_, start, end};
    if (auto failure = internal::thrown_by([&] { shared_.observe(observed); }))
        fail(held, task, std::move(failure));
}

void SpawnWorker::fail(HeldTasks& held, TaskSlot task, std::exception_ptr cause) const {
    const std::uint64_t number = shared_.tasks.number_of(task);
    held.fail(number, shared_.tasks.type_of(task), std::move(cause));
    shared_.limit.drop_from(number);
}

// Runs a task and those of the same task type right behind it; `next` is the first that has not begun.
// Several at a time are so short that a look at the clock for each would be much of what they cost.
void SpawnWorker::run_alike(HeldTasks& held, std::size_t& next) {
    const SpawnedTasks& tasks = shared_.tasks;
    const policy::TaskTypeId type = tasks.type_of(held.tasks[next]);
    do {
        run_task(held, held.tasks[next++]);
    } while (!shared_.observe && next < held.tasks.size() && tasks.type_of(held.tasks[next]) == type);
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
        } catch (const abi::__forced_unwind&) {
            fail(held, task, nullptr);
            ++held.done.ran;
            shared_.bodies[task].clear();
            throw;
        } catch (...) {
            fail(held, task, std::current_exception());
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
