#include "tidemill/runtime/execute/part_steps.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/runtime/execute/late.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

namespace {

std::byte* bytes_at(const internal::FrameContext& context, internal::Address address) {
    return context.bases[static_cast<std::size_t>(address.base)] + address.offset;
}

// Size of a socket that varies, as much as it holds. Where its task was skipped on the frame, what lies there
// is anything: nobody will read it, but it is no size.
std::size_t bytes_of(const Copy& copy, const std::byte* from) {
    if (copy.element_bytes == 0) return copy.bytes;
    const std::size_t held =
        internal::kElementsAt + std::size_t{internal::elements_in(from)} * copy.element_bytes;
    return std::min<std::size_t>(held, copy.bytes);
}

// Values that go round a loop are often a single number, for which a call would cost more than the copy.
void move(const Copy& copy, const internal::FrameContext& context) {
    std::byte* to = bytes_at(context, copy.to);
    const std::byte* from = bytes_at(context, copy.from);
    if (copy.bytes == sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, from, sizeof(word));
        std::memcpy(to, &word, sizeof(word));
    } else {
        std::memmove(to, from, bytes_of(copy, from));
    }
}

[[noreturn, gnu::cold]] void throw_no_path(std::uint32_t control, std::size_t paths) {
    throw RunError(fmt::format("control value {}, but there are {} paths, from 0", control, paths));
}

}  // namespace

void copy_all(const std::vector<Copy>& copies, const internal::FrameContext& context) {
    for (const Copy& copy : copies) {
        const std::byte* from = bytes_at(context, copy.from);
        std::memcpy(bytes_at(context, copy.to), from, bytes_of(copy, from));
    }
}

void check_promise(const TaskInfo& task, Flow flow) {
    const TaskOptions& promised = task.options;
    const bool kept = flow == Flow::ok || (flow == Flow::skip && promised.may_skip) ||
                      (flow == Flow::again && promised.may_repeat) ||
                      (flow == Flow::stop && promised.replication == Replication::sequential);
    if (kept) return;
    throw RunError(flow == Flow::skip    ? "it returned skip; declare it with may_skip"
                   : flow == Flow::again ? "it returned again; declare it with may_repeat"
                                         : "it returned stop; only sequential tasks may: say sequential");
}

PartSteps::PartSteps(const Plan& plan, const Part& part, const std::vector<Module*>& modules, bool drops)
    : part_(part), region_states_(plan.regions, 0) {
    for (std::uint32_t index = part.first_step; index < part.last_step; ++index) {
        steps_.push_back(run_step(plan, index, modules));
        if (drops && !is_source(plan, plan.steps[index], *steps_.back().module))
            steps_.back().holes |= kDroppedFrame;
        ends_segment_ |= steps_.back().info->ends_segment();
    }
    for (RunStep& step : steps_) {
        step.next = at(step.step->next);
        step.jumps = step.next != &step + 1;
        step.next_at_hole = at(step.step->next_at_hole);
        if (step.info->control != internal::ControlKind::none) add_steering(step);
    }
}

void PartSteps::add_steering(RunStep& step) {
    const ControlStep& control = step.step->control;
    const bool selects = control.kind == internal::ControlKind::switch_select ||
                         control.kind == internal::ControlKind::loop_select;
    const bool is_loop = control.kind == internal::ControlKind::loop_select ||
                         control.kind == internal::ControlKind::loop_commute;
    Steering& made = steerings_.emplace_back(
        Steering{selects, is_loop, &region_states_[control.region], control.inputs, control.control, {}});
    for (const std::uint32_t target : control.targets) made.targets.push_back(at(target));
    step.steering = &made;
}

RunStep PartSteps::run_step(const Plan& plan, std::uint32_t index, const std::vector<Module*>& modules) {
    const Step& step = plan.steps[index];
    Module* module = modules[step.task.id.module];
    const TaskInfo& info = module->tasks()[step.task.id.task];
    RunStep made{};
    made.call = info.call;
    made.module = module;
    made.addresses = plan.addresses[step.task.id.module].data();
    made.code = info.code;
    made.holes = step.task.holes;
    made.index = index;
    made.copies = !step.before.empty();
    made.step = &step;
    made.info = &info;
    if (step.task.firings > 1) {
        firings_.push_back(
            std::make_unique<Firings>(plan, index, *module, internal::BoundCall{made.call, made.code}));
        made.call = &Firings::fire;
        made.code = firings_.back()->code();
    }
    // At the stream's end there are none.
    if (!step.marks.empty() && !step.told_of_end) {
        marks_.push_back(std::make_unique<MarksCall>(step, internal::BoundCall{made.call, made.code}));
        made.call = &MarksCall::call;
        made.code = marks_.back()->code();
    }
    if (step.told_of_end) {
        end_call_ =
            std::make_unique<EndCall>(plan, index, *module, internal::BoundCall{made.call, made.code});
        made.call = &EndCall::call;
        made.code = end_call_->code();
        made.addresses = end_call_->addresses();
    }
    return made;
}

const RunStep* PartSteps::batched() const {
    const bool is_plain = firings_.empty() && marks_.empty() && !end_call_;
    if (steps_.size() != 1 || ends_segment_ || !is_plain) return nullptr;
    const TaskInfo& task = *steps_.front().info;
    return task.batch_call && (task.options.batch > 1 || task.options.in_flight > 1) ? &steps_.front()
                                                                                     : nullptr;
}

// Null for what lies beyond: the part ends, or the segment does.
const RunStep* PartSteps::at(std::uint32_t index) const {
    const std::uint32_t position = index - part_.first_step;
    const std::size_t before_end = steps_.size() - (ends_segment_ ? 1 : 0);
    return position < before_end ? &steps_[position] : nullptr;
}

const RunStep* PartSteps::steer(const RunStep& step, const internal::FrameContext& context) {
    const Steering& steering = *step.steering;
    std::uint32_t& state = *steering.state;
    if (steering.selects) {
        move(steering.inputs[state], context);
        return step.next;
    }
    state = std::to_integer<std::uint8_t>(*bytes_at(context, steering.control));
    if (steering.is_loop) state = state != 0;
    if (state >= steering.targets.size()) throw_no_path(state, steering.targets.size());
    return steering.targets[state];
}

// A hole in a switch or loop ends all of it.
const RunStep* PartSteps::leave_out(const RunStep& step) {
    if (step.steering) *step.steering->state = 0;
    return step.next_at_hole;
}

}  // namespace tidemill
