#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "tidemill/runtime/report/observer.hpp"

namespace tidemill {

/// Records what every thread of a run does, for ui.perfetto.dev or chrome://tracing. Each thread keeps its
/// last events in memory that is there before it begins; older ones are overwritten and counted.
///
///     Trace trace;
///     pipeline.run({.observers = {&trace}});
///     trace.write("run.json");
class Trace final : public Observer {
  public:
    /// Throws RunError when no events are to be kept.
    explicit Trace(std::size_t events_per_thread = std::size_t{1} << 16);

    ThreadObserver& watch(const ObservedThread& thread) override;

    /// Events that are kept, and that were overwritten. To be asked when no run is going on.
    std::uint64_t kept() const;
    std::uint64_t dropped() const;

    /// Writes Chrome's trace format: a process per stage, a track per thread, times in microseconds since the
    /// first event; calls carry their frame and segment.
    void write(std::ostream& to) const;

    /// The same into a file; throws RunError naming it when not every byte got there.
    void write(const std::filesystem::path& path) const;

  private:
    static constexpr std::uint32_t kPullWait = 0xfffffffe;
    static constexpr std::uint32_t kPushWait = 0xffffffff;

    struct Event {
        std::uint64_t start;  // tick
        std::uint64_t ticks;
        std::uint64_t frame;
        std::uint32_t step;  // or what kind of wait
        std::uint32_t segment;
    };

    class Lane final : public ThreadObserver {
      public:
        Lane(const ObservedThread& thread, std::size_t events);
        void called(const ObservedCall& call) override;
        void waited(const ObservedWait& wait) override;

        std::uint64_t kept() const { return written_ < events_.size() ? written_ : events_.size(); }
        std::uint64_t dropped() const { return written_ - kept(); }
        const Event& event(std::uint64_t index) const;  // oldest first
        std::string name_of(const Event& event) const;
        std::size_t stage() const { return stage_; }
        std::size_t replica() const { return replica_; }
        const std::string& stage_name() const { return stage_name_; }

      private:
        void add(const Event& event);

        std::size_t stage_;
        std::size_t replica_;
        std::string stage_name_;
        std::vector<std::string> steps_;  // names
        std::vector<Event> events_;
        std::size_t next_ = 0;
        std::uint64_t written_ = 0;
    };

    std::uint64_t first_tick() const;
    void write_names(std::ostream& to) const;

    std::size_t events_per_thread_;
    std::deque<Lane> lanes_;  // they never move
};

}  // namespace tidemill
