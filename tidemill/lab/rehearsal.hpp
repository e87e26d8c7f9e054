#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tidemill/lab/programs/synthetic_work.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/report/observer.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill::cli {

/// From a frame on, a task takes so many times as long.
struct CostChange {
    std::uint64_t frame = 0;
    std::string task{};
    double factor = 1;
};

/// Reads "200:decode=3"; throws WrongUsage on anything else.
CostChange parse_cost_change(const std::string& text);

/// The profile with all weights multiplied, so that a schedule's period becomes `period_us`.
Profile stretched(Profile profile, const Schedule& schedule, double period_us);

/// A graph whose tasks take the time that a chain says, each from its own beginning on, so that none makes up
/// for another. Those that wait leave the core to others, so they stand in for cores that this machine does
/// not have; those that compute keep it busy.
class Rehearsal {
  public:
    /// `arrived` is called with the number of each frame that has passed all tasks. Throws WrongUsage when a
    /// change is for a task that the chain does not have.
    Rehearsal(Chain chain, Pastime pastime, std::vector<CostChange> changes = {},
              std::function<void(std::uint64_t)> arrived = {});

    Graph& graph() { return graph_; }

    /// From now on every task takes what its profile says on the kind of cores that the schedule gives it: in
    /// a mixed stage, each of its threads. Before, and where it leaves that open, on the first kind on which
    /// the task runs.
    void follow(const Schedule& schedule);

    /// To be among a run's observers: they give tasks the one of its stage's threads runs them. None where
    /// all cores are of one kind.
    std::vector<Observer*> observers();

    /// Tasks take no more time; from any thread.
    void end() { ended_ = true; }

  private:
    /// Kinds of the threads of a stage, in turns where there are more: none that is mixed has as many.
    using KindsOfThreads = std::array<std::atomic<std::size_t>, kMostLetters>;

    /// Notes for each thread which one of its stage it is.
    class Seats final : public Observer {
      public:
        ThreadObserver& watch(const ObservedThread& thread) override;

      private:
        std::deque<std::unique_ptr<ThreadObserver>> seats_;
    };

    void pass_time(std::size_t task, std::uint64_t frame) const;
    void add(std::size_t task, const Module* before);

    Chain chain_;
    Pastime pastime_;
    std::vector<CostChange> changes_;
    std::function<void(std::uint64_t)> arrived_;
    std::vector<KindsOfThreads> kinds_;  // of cores, per task
    Seats seats_;
    std::atomic<bool> ended_{false};
    Graph graph_;
};

/// Timers of this thread, and of those that it starts, fire as exactly as the kernel can, while it lives.
class ExactTimers {
  public:
    ExactTimers();
    ~ExactTimers();
    ExactTimers(const ExactTimers&) = delete;
    ExactTimers& operator=(const ExactTimers&) = delete;

  private:
    int before_;
};

/// Runs a schedule on real threads whose tasks wait for their weights instead of computing; returns the time
/// between frames in the second half. Throws JobFailed when a frame is lost or out of place.
double waiting_period_us(const Schedule& schedule, const Chain& chain, std::uint64_t frames);

}  // namespace tidemill::cli
