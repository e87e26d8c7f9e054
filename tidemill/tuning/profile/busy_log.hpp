#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tidemill/machine/thread_time.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/report/observer.hpp"

namespace tidemill {

/// Processor time of each thread of a run for its tasks: their waits, and what it waits for between them, are
/// left out. The system is asked before and behind each call, so it is for short looks. Give it to
/// RunOptions::observers, and ask when the run is over.
class BusyLog final : public Observer {
  public:
    explicit BusyLog(const Graph& graph) : graph_(graph) {}

    ThreadObserver& watch(const ObservedThread& thread) override;

    /// Time of the thread that took most, in microseconds.
    double busiest_us() const;
    /// How long sources have waited for what is outside the graph.
    double sources_waited_us() const;

  private:
    struct Busy {
        std::int64_t run_ns = 0;
        std::int64_t sources_waited_ns = 0;
    };

    /// A thread at one of its stages.
    class Seat final : public ThreadObserver {
      public:
        Seat(BusyLog& log, std::vector<TaskId> sources) : log_(log), sources_(std::move(sources)) {}

        void calling(const OrderedTask& task, std::uint64_t frame) override;
        void called(const ObservedCall& call) override;

      private:
        BusyLog& log_;
        std::vector<TaskId> sources_;
        Busy* busy_ = nullptr;
        std::optional<ThreadTime> source_began_{};
        std::int64_t began_ns_ = 0;
    };

    Busy& of_this_thread();
    std::vector<TaskId> sources_of(const Plan& plan) const;

    const Graph& graph_;
    std::deque<Seat> seats_;
    std::mutex mutex_;  // guards the map, not what it holds
    std::map<std::thread::id, Busy> threads_;
};

}  // namespace tidemill
