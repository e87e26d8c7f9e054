#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tidemill/scheduling/dynamic/exclusive_tasks.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {

/// A task of an earlier number that another one waits for.
struct Predecessor {
    std::uint64_t number;
    bool is_read = true;  ///< its output is consumed; else only its order counts, as for state
};

/// A task as the program creates it.
struct ProgramTask {
    policy::TaskTypeId type = 0;
    std::uint64_t iteration = 0;
    double work_us = 0;                ///< on a core of speed 1
    std::uint64_t output_bytes = 0;    ///< alive from its beginning until its readers have completed
    std::uint32_t readers = 0;         ///< later tasks that read the output
    std::uint64_t reserved_bytes = 0;  ///< what a throttle in bytes has to admit before
    std::vector<Predecessor> predecessors{};
    std::vector<policy::ExclusionId> exclusions{};  ///< what it must have for itself while it runs
};

/// A program that creates tasks one after the other: tasks are numbered 0, 1, 2, ... .
class TaskProgram {
  public:
    TaskProgram() = default;
    TaskProgram(const TaskProgram&) = delete;
    TaskProgram& operator=(const TaskProgram&) = delete;
    virtual ~TaskProgram() = default;

    virtual const std::string& name() const = 0;
    virtual const std::vector<std::string>& types() const = 0;
    virtual std::uint64_t tasks() const = 0;
    virtual std::uint64_t iterations() const = 0;

    /// How many tasks may be remembered at least, so that no predecessor is forgotten before it is named when
    /// `iterations_in_flight` are.
    virtual std::uint64_t reach(std::uint64_t iterations_in_flight) const = 0;

    /// Makes `task` the next one; not to be called more than tasks() times after a restart().
    virtual void next(ProgramTask& task) = 0;
    virtual void restart() = 0;
};

}  // namespace tidemill
