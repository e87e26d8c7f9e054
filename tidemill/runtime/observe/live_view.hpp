#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/report/observer.hpp"
#include "tidemill/runtime/report/report.hpp"

namespace tidemill {

/// How a run has spent its time until now.
struct LiveTimes {
    struct TaskTime {
        std::string name;  ///< "module.task"
        std::uint64_t calls = 0;
        double work_us = 0;
    };
    struct StageTime {
        std::size_t threads = 0;
        double work_us = 0;  ///< of all its threads
        double pull_us = 0;  ///< waiting for the stage before
        double push_us = 0;  ///< waiting for the stages after
    };

    double elapsed_us = 0;
    std::vector<TaskTime> tasks{};    ///< in their order
    std::vector<StageTime> stages{};  ///< of the schedule that is followed

    /// Times added since an earlier look; all of them where the schedule has changed since.
    LiveTimes since(const LiveTimes& before) const;

    /// As the report of a run that took no longer, for a drawing of its graph.
    RunReport report() const;
};

/// View of a running graph: the content of some sockets, copied only when somebody has asked since, and how
/// its stages spend their time. May be read from any thread while the run goes on.
class LiveView final : public Observer {
  public:
    explicit LiveView(const Graph& graph) : graph_(graph) {}

    /// A socket to look at, "module.socket", so many of its elements at most; before the run. Returns its
    /// place. Throws GraphError where there is none.
    std::size_t add(std::string_view socket, std::size_t elements);

    /// Asks for a copy of what passes the sockets next.
    void ask() noexcept;
    /// The same for one place alone.
    void ask(std::size_t place) noexcept;

    /// Bytes that were copied last; empty before the first time.
    std::vector<std::byte> content(std::size_t place) const;

    LiveTimes times() const;

    void begin_run() override;
    ThreadObserver& watch(const ObservedThread& thread) override;

  private:
    struct Glance {
        std::size_t module;
        std::uint32_t socket;
        std::size_t bytes;
        std::atomic<bool> wanted{false};
        std::vector<std::byte> content{};  // guarded by the view's mutex
    };

    class Thread;

    void copy(Glance& glance, std::span<const std::byte> bytes);

    const Graph& graph_;
    std::deque<Glance> glances_;
    mutable std::mutex mutex_;
    std::deque<Thread> threads_;
    std::size_t crew_ = 0;  // of the schedule that is followed: its first thread
    std::uint64_t began_ = 0;
};

/// Counts what one thread does; others read the counts.
class LiveView::Thread final : public ThreadObserver {
  public:
    Thread(LiveView& view, const ObservedThread& thread);
    void called(const ObservedCall& call) override;
    void waited(const ObservedWait& wait) override;

  private:
    friend class LiveView;
    struct StepTime {
        std::atomic<std::uint64_t> calls{0};
        std::atomic<std::uint64_t> ticks{0};
    };

    LiveView& view_;
    std::size_t stage_;
    std::size_t replica_;
    std::vector<std::string> names_;             // of the steps' tasks
    std::vector<std::vector<Glance*>> glances_;  // by step
    std::vector<StepTime> steps_;
    std::atomic<std::uint64_t> pull_ticks_{0};
    std::atomic<std::uint64_t> push_ticks_{0};
};

}  // namespace tidemill
