#pragma once

#include <deque>
#include <vector>

#include "tidemill/lab/sim/task_simulator.hpp"
#include "tidemill/runtime/report/observer.hpp"
#include "tidemill/runtime/tasks/tasks.hpp"

namespace tidemill {

/// Record of each worker of a real run, task by task: of a graph under Dynamic, or of a program by Tasks.
class TaskRecord final : public Observer {
  public:
    explicit TaskRecord(std::size_t workers) : lanes_(workers) {}

    ThreadObserver& watch(const ObservedThread& thread) override;
    void add(const ObservedTask& task) { lanes_[task.worker].tasks.push_back(task); }

    /// In the order in which they began; times from there on.
    std::vector<RanTask> tasks() const;

  private:
    struct alignas(64) Lane final : ThreadObserver {
        void called(const ObservedCall& call) override;

        std::size_t worker = 0;
        std::size_t steps = 0;  // of the graph's plan: a task's number is that of its frame times this
        std::vector<ObservedTask> tasks;
    };

    std::deque<Lane> lanes_;  // per worker
};

}  // namespace tidemill
