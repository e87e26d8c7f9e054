#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "tidemill/runtime/tasks/run_limit.hpp"
#include "tidemill/runtime/tasks/spawn_board.hpp"
#include "tidemill/runtime/tasks/tasks.hpp"

namespace tidemill {

/// One thread that runs spawned tasks, as handed out, and what it runs, for others to look at.
class SpawnWorker {
  public:
    /// State that all workers of a program share.
    struct Shared {
        const SpawnedTasks& tasks;
        internal::TaskBody* bodies;  ///< per slot
        RunLimit& limit;
        const std::function<void(const ObservedTask&)>& observe;
        std::function<void()> nothing_comes;  ///< called when no work has come for milliseconds
    };
    /// The running task, and the tick at which it, or one right before, began.
    struct Watched {
        std::uint64_t number;
        policy::TaskTypeId type;
        std::uint64_t start;
    };

    SpawnWorker(const Shared& shared, std::size_t index) : shared_(shared), index_(index) {}

    void run(HeldTasks& held);
    void rests() {}
    void rested(bool woken) {
        if (!woken) shared_.nothing_comes();
    }

    /// From any thread.
    bool is_running() const { return start_.load(std::memory_order_relaxed) != 0; }
    std::optional<Watched> running() const;
    std::size_t index() const { return index_; }

  private:
    void run_alike(HeldTasks& held, std::size_t& next);
    void run_task(HeldTasks& held, policy::TaskSlot task);
    void observe(HeldTasks& held, policy::TaskSlot task, std::uint64_t start, std::uint64_t end) const;
    void fail(HeldTasks& held, policy::TaskSlot task, std::exception_ptr cause) const;

    const Shared& shared_;
    std::size_t index_;
    alignas(64) std::atomic<std::uint64_t> start_{0};  // 0: none runs
    std::atomic<std::uint64_t> number_{0};
    std::atomic<policy::TaskTypeId> type_{0};
};

}  // namespace tidemill
