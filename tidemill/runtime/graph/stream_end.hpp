#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/runtime/graph/frame.hpp"
#include "tidemill/runtime/graph/module.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/graph/task.hpp"

namespace tidemill {

/// The bit of a frame's holes that keeps all tasks from running which have no part in the stream's end.
/// Graphs with the word at_end give it to no task that skips.
inline constexpr std::uint64_t kEndHole = std::uint64_t{1} << 63;

/// Makes of a compiled plan that of the frames with which `end` ends the stream: they begin in the segment of
/// the first task that runs at the end, with kEndHole, and only that task and what follows from it run.
void make_end_plan(const EndOfStream& end, Plan& plan);

/// Takes the data of frames away from the inputs of a task; constants stay.
void leave_out_inputs(const Module& module, std::uint32_t task, internal::AddressTable& addresses);

/// The task that sees the stream's end, as one call per frame: its inputs are empty, and the stream stops
/// when it has no more. Serves one thread; stays where it was made.
class EndCall {
  public:
    /// For step `step` of `plan`, whose task `inner` calls.
    EndCall(const Plan& plan, std::uint32_t step, const Module& module, const internal::BoundCall& inner);
    EndCall(const EndCall&) = delete;
    EndCall& operator=(const EndCall&) = delete;

    /// Function to call, with `code()`, in the task's stead; gives ok or stop.
    static Flow call(Module& module, const internal::TaskCode& code, Frame frame);
    internal::TaskCode code() const { return internal::code_that_points_to(*this); }
    const internal::Address* addresses() const { return addresses_.data(); }

  private:
    Flow run(Module& module, const internal::FrameContext& context);

    internal::BoundCall inner_;
    internal::AddressTable addresses_;
    bool has_more_ = true;
};

}  // namespace tidemill
