#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill::cli {

/// A graph, or a part of one, that takes a value and gives one.
struct GraphPart {
    SocketRef input;
    SocketRef output;
};

/// One of StreamPU's four micro-benchmarks, of tasks that wait actively.
struct MicroBenchmark {
    const char* name;
    double published_ms;       // for 1,125,000 such tasks of 4 us
    std::uint64_t frames = 1;  // after which all repeats
    std::uint64_t tasks = 1;   // that wait, in so many frames
    GraphPart (*build)(Graph& graph, std::chrono::nanoseconds wait);

    /// Cost of such a task beyond its time, in ns: that of the median repetition in about so many tasks, so
    /// that what else the machine does is not in it.
    double overhead_ns(std::chrono::nanoseconds wait, std::uint64_t all_tasks) const;

    /// The same as published, where a task waits 4 us.
    double published_overhead_ns() const;
};

/// The chain first.
const std::array<MicroBenchmark, 4>& micro_benchmarks();

}  // namespace tidemill::cli
