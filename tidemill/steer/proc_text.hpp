#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemill::steer {

/// Facts of a thread in /proc/PID/task/TID/stat.
struct ThreadFacts {
    std::string name;  ///< printable: other bytes are question marks
    int parent = 0;    ///< process number of its process's parent
    int session = 0;   ///< process number of its session's leader
    bool is_kernel_thread = false;
    bool is_running = false;  ///< or waits for a core
    int nice = 0;
    std::uint64_t start_ticks = 0;  ///< after the system's start
    int processor = 0;              ///< where it ran last
    unsigned policy = 0;            ///< SCHED_OTHER and so on

    /// Whether the system shares cores out to it by weight: else it is somebody's real-time thread.
    bool is_ordinary() const;
    /// Its share of a core beside others, 1 at nice 0.
    double weight() const;
};

/// Times of a thread since it began, from /proc/PID/task/TID/schedstat.
struct ThreadTimes {
    std::uint64_t ran_ns = 0;
    std::uint64_t waited_ns = 0;  ///< for a core
};

// Nothing for a text that no kernel writes.
std::optional<ThreadFacts> parse_stat(std::string_view text);
std::optional<ThreadTimes> parse_schedstat(std::string_view text);

/// The numbers of a text with one in each line, as cgroup.procs is; others are left out.
std::vector<int> parse_numbers(std::string_view text);

}  // namespace tidemill::steer
