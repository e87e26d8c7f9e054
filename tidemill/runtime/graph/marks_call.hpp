#pragma once

#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/graph/task.hpp"

namespace tidemill {

/// The call of a task that reads marks: gives each of its firings those that lie on its elements. Stays where
/// it was made.
class MarksCall {
  public:
    /// `step` outlives this; `inner` does all firings.
    MarksCall(const Step& step, const internal::BoundCall& inner) : step_(step), inner_(inner) {}
    MarksCall(const MarksCall&) = delete;
    MarksCall& operator=(const MarksCall&) = delete;

    /// Function to call, with `code()`, in the task's stead.
    static Flow call(Module& module, const internal::TaskCode& code, Frame frame);
    internal::TaskCode code() const { return internal::code_that_points_to(*this); }

  private:
    const Step& step_;
    internal::BoundCall inner_;
};

}  // namespace tidemill
