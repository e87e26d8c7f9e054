#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

namespace tidemill::policy {

/// Number of the type of which a task is an instance: small and dense.
using TaskTypeId = std::uint32_t;

/// A thread that runs tasks, from 0 on.
using WorkerId = std::uint32_t;

/// A kind of core, from 0 to 31.
using KindId = std::uint32_t;

/// Kinds of cores: bit k stands for kind k.
using KindSet = std::uint32_t;
inline constexpr KindSet kAnyKind = ~KindSet{0};

/// How much of a program may be in flight. An iteration is in flight from its first task's creation until all
/// of its tasks, and those of all iterations before it, have completed.
///
/// In iterations, it bounds how far task types run apart. In tasks it does not: one task that waits lets all
/// others run ahead. In bytes, it is a promise about memory.
struct Window {
    static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t iterations = kUnlimited;
    std::uint64_t tasks = kUnlimited;
    std::uint64_t bytes = kUnlimited;
};

/// When and how much the adaptive policies adapt.
struct Adapting {
    std::uint64_t interval_ns = 100'000'000;          ///< between looks at the statistics
    std::uint64_t starved_interval_ns = 500'000'000;  ///< after a look that found the master too slow
    std::int64_t first_delta = 8;                     ///< of gpriority, in tasks
};

/// A task's place among those in flight: small, dense, free for another task after complete().
using TaskSlot = std::uint32_t;
inline constexpr TaskSlot kNoTask = std::numeric_limits<TaskSlot>::max();

/// A task when the program creates it.
struct NewTask {
    TaskSlot slot;
    TaskTypeId type;
    std::uint64_t number;         ///< one more than that of the task created before
    std::uint64_t iteration = 0;  ///< of the stream's loop; 0 where there is none
    std::int32_t priority = 0;    ///< the user's wish, read by the policy of that name only
    /// Tasks whose outputs this one consumes; completed ones too, as long as their slots are still theirs.
    std::span<const TaskSlot> predecessors{};
    KindSet kinds = kAnyKind;  ///< of cores that may run it
};

/// Choice of the ready task that runs next. It gets every event, in an order that some sequence could have
/// had; knows no thread and no clock. A user that shares one between threads keeps the calls apart.
///
/// After the first tasks of each task type and the largest number of tasks in flight, no event allocates.
class Policy {
  public:
    Policy() = default;
    Policy(const Policy&) = delete;
    Policy& operator=(const Policy&) = delete;
    virtual ~Policy() = default;

    /// The program creates a task, in its own order. Throws PolicyError for one that no worker may run.
    virtual void create(const NewTask& task) = 0;

    /// The last predecessor has completed, or there was none.
    virtual void ready(TaskSlot task) = 0;

    /// Takes the ready task that `worker` is to run; kNoTask when there is none that its kind of core may.
    virtual TaskSlot issue(WorkerId worker) = 0;

    /// Keeps task types apart, so that workers can be given some of them only; to be called before the first
    /// task is created.
    virtual void part_types() = 0;

    /// The same as issue(worker), of the task types that the worker may have now: a byte for each, 0 where
    /// not. Those beyond the bytes it may not have. Only where task types are kept apart.
    virtual TaskSlot issue(WorkerId worker, std::span<const std::uint8_t> may_have) = 0;

    /// `worker` goes on with a task that it was given along with others, or whose last predecessor it has
    /// just completed: nobody else was asked.
    virtual void follow(TaskSlot task, WorkerId worker) = 0;

    /// The task has ended on `worker`. To be called before any successor is ready.
    virtual void complete(TaskSlot task, WorkerId worker) = 0;

    /// Gives the adaptive policies the time, of any steady clock; as often as is cheap, after complete().
    virtual void tick(std::uint64_t now_ns) = 0;

    /// Whether create() needs the predecessors of every task. Where not, the adaptive policies need them too,
    /// unless learn() has given the edges between task types; the others read none.
    virtual bool wants_predecessors() const = 0;

    /// Takes an edge between task types known beforehand: tasks of `to` consume what tasks of `from` created
    /// `distance` tasks earlier, on average, have made.
    virtual void learn(TaskTypeId from, TaskTypeId to, double distance) = 0;

    virtual std::size_t ready_tasks() const = 0;

    /// How often creating a task has changed what another one is worth: what botlev, crit and mdesc pay for.
    virtual std::uint64_t rank_changes() const = 0;
};

/// A policy or, parted by commas, a list of which each breaks the ties of those before: "toplev,oldest".
/// What is then still tied goes in the order of creation; alone, fifo and lifo know no ties. Throws
/// PolicyError for a name that there is not.
std::unique_ptr<Policy> make_policy(std::string_view names, unsigned workers, const Adapting& adapting = {});

/// The same for workers on cores of several kinds.
std::unique_ptr<Policy> make_policy(std::string_view names, std::span<const KindId> kind_of_worker,
                                    const Adapting& adapting = {});

/// A policy's name and what it prefers.
struct PolicyName {
    std::string_view name;
    std::string_view issues_first;
};

std::span<const PolicyName> policies();

}  // namespace tidemill::policy
