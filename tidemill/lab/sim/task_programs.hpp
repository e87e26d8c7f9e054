#pragma once

#include <string_view>
#include <vector>

#include "tidemill/lab/sim/stream_program.hpp"

namespace tidemill {

/// How large to make a program.
struct TaskProgramSize {
    std::uint64_t iterations =
        0;  ///< of a stream, frames of the decoder; 0: what makes `tasks`, and some at least
    std::uint64_t tasks = 100000;
    double task_us = 1000;  ///< mean time of a stream's task
    double work_unit_us =
        0;                ///< of a StreamIt benchmark, if given: time of a unit of work, not of a mean task
    bool coarse = false;  ///< of a StreamIt benchmark: all firings of an iteration are one task
    std::uint64_t blocks = 16;  ///< of a factorisation: so many tiles by as many; particles of pairs
    unsigned workers = 4;       ///< for which a worst case is worst
    unsigned unroll = 2;        ///< of worst cases that have one
};

struct TaskProgramName {
    std::string_view name;
    std::string_view summary;
};

/// All programs that can be made by name: StreamIt benchmarks, factorisations, a decoder, what kinds of
/// accesses win, worst cases.
std::vector<TaskProgramName> task_programs();

/// Throws ScheduleError for a name that there is not, with those that there are.
std::unique_ptr<TaskProgram> make_task_program(std::string_view name, const TaskProgramSize& size = {});

/// The graph with all times scaled so that the mean task takes `task_us`.
StreamGraph with_mean_task(StreamGraph graph, double task_us);

}  // namespace tidemill
