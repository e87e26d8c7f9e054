#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "tidemill/runtime/graph/firings.hpp"
#include "tidemill/runtime/graph/marks_call.hpp"
#include "tidemill/runtime/graph/module.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/graph/stream_end.hpp"

namespace tidemill {

/// Detail of a worker's notes on its tasks: nothing, their times, or each call for observers.
enum class Watching { nothing, times, calls };

struct RunStep;

/// A task of a switch or loop, as an executor carries it out: see ControlStep.
struct Steering {
    bool selects;  ///< it joins paths, or turns; otherwise it opens one
    bool is_loop;
    std::uint32_t* state;  ///< of its region
    std::vector<Copy> inputs{};
    internal::Address control{};
    std::vector<const RunStep*> targets{};
};

/// A task of a plan, ready to be called by one thread. What every call needs lies in the first cache line.
struct alignas(64) RunStep {
    internal::TaskCall call;
    Module* module;
    const internal::Address* addresses;
    internal::TaskCode code;
    std::uint64_t holes;  ///< the skips that keep it from running
    std::uint32_t index;  ///< in the plan
    bool copies;          ///< some of its forwards
    bool jumps;           ///< what comes next is not simply the step behind it
    const RunStep* next;  ///< null at the end of the part
    const RunStep* next_at_hole;
    const Step* step;
    const TaskInfo* info;
    const Steering* steering;  ///< null but for tasks of switches and loops
};

/// Copies bytes between addresses of a frame.
void copy_all(const std::vector<Copy>& copies, const internal::FrameContext& context);

/// Throws when a task returned a flow that it did not promise.
void check_promise(const TaskInfo& task, Flow flow);

/// The tasks of a part as one thread runs them, one frame at a time.
class PartSteps {
  public:
    /// `modules` are those that this thread's tasks run on, by the graph's indices. The plan must outlive
    /// this.
    /// With `drops`, only sources run on frames that are dropped.
    PartSteps(const Plan& plan, const Part& part, const std::vector<Module*>& modules, bool drops = false);
    PartSteps(PartSteps&&) = default;
    PartSteps(const PartSteps&) = delete;
    PartSteps& operator=(const PartSteps&) = delete;

    /// First step for a frame; null when nothing runs before the segment's end.
    const RunStep* first() const { return at(part_.first_step); }
    /// The task that ends the segment; null when it is not in this part.
    const RunStep* end() const { return ends_segment_ ? &steps_.back() : nullptr; }

    /// The only task of this part, if it takes several frames at once and ends no segment; null otherwise.
    const RunStep* batched() const;

    /// Does what a task of a switch or loop does; returns what comes next. Throws RunError when the
    /// control value names no path.
    static const RunStep* steer(const RunStep& step, const internal::FrameContext& context);
    /// Next step when a hole keeps `step` from running.
    static const RunStep* leave_out(const RunStep& step);

  private:
    void add_steering(RunStep& step);
    RunStep run_step(const Plan& plan, std::uint32_t index, const std::vector<Module*>& modules);
    const RunStep* at(std::uint32_t index) const;

    Part part_;
    std::vector<RunStep> steps_;
    bool ends_segment_ = false;
    std::vector<std::uint32_t> region_states_;  // see ControlStep
    std::deque<Steering> steerings_;
    std::vector<std::unique_ptr<Firings>> firings_;  // of the steps that run several times per frame
    std::vector<std::unique_ptr<MarksCall>> marks_;  // of the steps that read marks
    std::unique_ptr<EndCall> end_call_;              // of the step that sees the stream's end
};

}  // namespace tidemill
