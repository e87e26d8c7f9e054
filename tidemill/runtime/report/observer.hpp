#pragma once

#include <cstddef>
#include <cstdint>

#include "tidemill/runtime/graph/frame.hpp"
#include "tidemill/runtime/graph/task.hpp"

namespace tidemill {

class Module;
struct OrderedTask;
struct Plan;

/// A task's call that has just ended. Its sockets may be read through `frame` until the observer returns:
/// inputs are as the task saw them, outputs and forwards as it left them.
struct ObservedCall {
    std::uint32_t step;  ///< place of the task in the plan
    const OrderedTask& task;
    const Module& module;
    Frame frame;
    Flow flow;
    std::uint64_t born;   ///< tick at which the source frame began
    std::uint64_t start;  ///< tick at which the call began
    std::uint64_t end;
};

/// A wait that has just ended: for input, or for a free token (then it `pushes`).
struct ObservedWait {
    std::uint32_t segment;
    std::uint64_t frame;
    bool pushes;
    std::uint64_t start;
    std::uint64_t end;
};

/// A thread that is about to run: which part of which plan it is.
struct ObservedThread {
    const Plan& plan;
    std::size_t stage;
    std::size_t replica;
};

/// Looks at what one thread of a run does, from within that thread.
class ThreadObserver {
  public:
    virtual ~ThreadObserver() = default;
    /// A call is about to begin.
    virtual void calling(const OrderedTask& /*task*/, std::uint64_t /*frame*/) {}
    virtual void called(const ObservedCall& /*call*/) {}
    /// A wait is about to begin: for input of that segment, or for a free token (then it `pushes`).
    virtual void waiting(std::uint32_t /*segment*/, bool /*pushes*/) {}
    virtual void waited(const ObservedWait& /*wait*/) {}
};

/// Looks into a run without being part of the graph: a trace, probes, a debug print. See
/// RunOptions::observers. What it throws ends the run, and is thrown by run().
class Observer {
  public:
    virtual ~Observer() = default;

    /// A run is about to begin, or to be resumed.
    virtual void begin_run() {}

    /// The run is over, whether all went well or not.
    virtual void end_run() {}

    /// The observer's view of a thread; the observer owns it. Asked once per thread before any of them runs,
    /// and again for the threads of a new schedule.
    virtual ThreadObserver& watch(const ObservedThread& thread) = 0;
};

}  // namespace tidemill
