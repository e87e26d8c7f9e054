#pragma once

#include "tidemill/lab/sim/task_program.hpp"

namespace tidemill {

/// A task type of a stream of one dimension.
struct StreamTaskType {
    std::string name;
    double work_us = 0;         ///< of one firing
    std::uint64_t firings = 1;  ///< per iteration
    bool stateful = false;      ///< each firing waits for the one before
};

/// Items that flow from one task type to another.
struct StreamEdge {
    std::size_t from;
    std::size_t to;
    std::uint64_t push = 1;     ///< items per firing of `from`
    std::uint64_t pop = 1;      ///< items per firing of `to`
    std::uint64_t peek = 1;     ///< items that a firing of `to` looks at, those that it pops included
    std::uint64_t initial = 0;  ///< items there from the beginning
};

/// A stream program: one loop over its task types in the order of creation, each firing a task.
struct StreamGraph {
    std::string name;
    std::vector<StreamTaskType> types;
    std::vector<StreamEdge> edges;
    std::uint64_t item_bytes = 4;

    double work_us() const;  ///< of one iteration
    std::uint64_t tasks() const;
    std::uint64_t bytes() const;  ///< of one iteration's items
};

/// The program of `iterations` iterations. Throws ScheduleError for rates that do not balance and for a
/// task type that would need items made later.
std::unique_ptr<TaskProgram> stream_program(StreamGraph graph, std::uint64_t iterations);

}  // namespace tidemill
