#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemill {

/// Counts of a thread in user space on the cores of one type; absent where nothing counted. What nothing
/// counted is absent.
struct CoreTypeCounts {
    std::string pmu;    ///< the core type, as the kernel calls its counters: "cpu", "cpu_core", "cpu_atom"
    double ran_ns = 0;  ///< that the thread ran there and was counted
    std::optional<double> cycles = {};
    std::optional<double> instructions = {};
    std::optional<double> last_level_misses = {};

    bool operator==(const CoreTypeCounts&) const = default;
};

/// One look at a thread's counters: all that was counted since they were opened. Two looks make a ThreadWork.
struct CounterReading {
    double enabled_ns = 0;                ///< that the thread ran on any core, counted or not
    std::vector<CoreTypeCounts> on = {};  ///< a core type each
    std::string absent = {};              ///< why nothing is known; empty where something is

    bool operator==(const CounterReading&) const = default;
};

/// Work of a thread between two looks.
struct ThreadWork {
    std::vector<CoreTypeCounts> on = {};  ///< a core type each
    /// Share of its time that was counted; below 1, others had the counters meanwhile, and all numbers are
    /// scaled up by it: estimates.
    double counted_share = 1;
    std::string absent = {};  ///< why nothing is known; empty where something is
};

/// From the first look to the second of the same counters; from when they were opened, where the first is {}.
/// What is absent in one of the looks, or fell between them, is absent.
ThreadWork work_between(const CounterReading& before, const CounterReading& after);

/// The counters of one thread. Any thread may read them, one at a time.
class ThreadCounters {
  public:
    virtual ~ThreadCounters() = default;

    /// Throws PlatformError where they no longer answer.
    virtual CounterReading read() = 0;
};

/// Where threads' counters come from.
class Counters {
  public:
    virtual ~Counters() = default;

    /// For reports: "cpu_core, cpu_atom", or the replay's file.
    virtual const std::string& name() const = 0;

    /// Counts from now on what a thread does, by the system's number of it; 0 is the calling thread. Throws
    /// PlatformError, saying why, where the system refuses: the thread is gone, or another user's, or no more
    /// files may be open (a thread needs up to three for each core type).
    virtual std::unique_ptr<ThreadCounters> of_thread(int tid) = 0;
};

/// An event to be counted for a thread.
struct CounterEvent {
    std::uint32_t type;    ///< the kernel's number of the PMU
    std::uint64_t config;  ///< which of its events
    int tid;
    int group;  ///< the descriptor of the group's first event, -1 for that one itself
};

/// The machine to look for counters on; tests bring their own.
struct CounterSystem {
    std::string sys_root = "/sys";
    std::string proc_root = "/proc";
    /// Returns a file descriptor, or -1 with errno set; reads of the group's first give its number of events,
    /// nanoseconds enabled and running, and a count each. Empty: ask the kernel.
    std::function<int(const CounterEvent& event)> open_perf{};
};

/// Counters, or why there are none: one of the two is there.
struct FoundCounters {
    std::unique_ptr<Counters> counters;
    std::string reason;
    std::string warning = {};  ///< what is missing in them, in one line
};

/// Looks for counters of cycles, instructions and last-level misses. `choice` is one of
/// - "auto": the kernel's, on the PMU of each core type; a reason where they refuse the calling thread;
/// - "none";
/// - "replay:FILE": what replay_lines() wrote; each read is a step, and a step that is not there is absent.
/// Throws PlatformError for any other choice, and for a replay that is none, naming the line.
FoundCounters find_counters(std::string_view choice = "auto", const CounterSystem& system = {});

/// The first line of a replay.
std::string replay_header();

/// A reading as lines of a replay. Steps of a replay follow one another, those of a thread from 0 on.
std::string replay_lines(std::uint64_t step, int tid, const CounterReading& reading);

}  // namespace tidemill
