#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/report/observer.hpp"

namespace tidemill {

class Repeated;

/// Notices that no task has begun or ended for a while, and reports what every thread is doing: which task it
/// is in, or which task waits for which sockets. What runs stays what it is: to give up, let `report` end the
/// run through RunOptions::stop. Like every observer it costs some 50 ns per call.
class Watchdog final : public Observer {
  public:
    using Clock = std::chrono::steady_clock;
    using Report = std::function<void(const std::string&)>;

    /// `report` is called from another thread, once per standstill. Where it throws, the watch is over, and
    /// run() throws that when the stream has ended. The graph must outlive this.
    Watchdog(const Graph& graph, std::chrono::milliseconds patience, Report report);
    ~Watchdog() override;

    void begin_run() override;
    void end_run() override;
    ThreadObserver& watch(const ObservedThread& thread) override;

    /// Report at `now`; nothing while things move. The watching thread calls it from time to time. What the
    /// watching thread asks from time to time.
    std::optional<std::string> look(Clock::time_point now);

  private:
    enum class Doing { starting, between, running, pulling, pushing };

    class Lane final : public ThreadObserver {
      public:
        Lane(const Graph& graph, const ObservedThread& thread);

        void calling(const OrderedTask& task, std::uint64_t frame) override;
        void called(const ObservedCall&) override { note(Doing::between); }
        void waiting(std::uint32_t segment, bool pushes) override;
        void waited(const ObservedWait&) override { note(Doing::between); }

        std::uint64_t events() const;
        std::string text() const;

      private:
        void note(Doing doing);

        std::string who_;
        std::vector<std::string> inputs_;   // what its first task waits for
        std::vector<std::string> last_of_;  // per segment, the task that frees tokens
        mutable std::mutex mutex_;          // guards what follows
        Doing doing_ = Doing::starting;
        std::string task_;
        std::uint64_t frame_ = 0;
        std::uint32_t segment_ = 0;
        std::uint64_t events_ = 0;
    };

    const Graph& graph_;
    std::chrono::milliseconds patience_;
    Report report_;
    std::mutex mutex_;  // guards what follows
    std::deque<Lane> lanes_;
    std::uint64_t seen_ = 0;
    std::optional<Clock::time_point> since_;
    bool told_ = false;
    std::unique_ptr<Repeated> watcher_;
};

}  // namespace tidemill
