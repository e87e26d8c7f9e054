#include "tidemill/run/part_steps.hpp"

#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

namespace tidemill {

namespace {

std::byte* bytes_at(const FrameContext& context, Place place) {
    return context.bases[static_cast<std::size_t>(place.base)] + place.offset;
}

}  // namespace

void copy_all(const std::vector<Copy>& copies, const FrameContext& context) {
    for (const Copy& copy : copies) {
        std::memcpy(bytes_at(context, copy.to), bytes_at(context, copy.from), copy.bytes);
    }
}

void check_promise(const TaskInfo& task, Flow flow) {
    const TaskOptions& promised = task.options;
    const bool kept = flow == Flow::ok || (flow == Flow::skip && promised.may_skip) ||
                      (flow == Flow::again && promised.may_repeat) ||
                      (flow == Flow::stop && promised.replication == Replication::sequential);
    if (kept) return;
    throw std::logic_error(flow == Flow::skip    ? "it returned skip; declare it with may_skip"
                           : flow == Flow::again ? "it returned again; declare it with may_repeat"
                                                 : "it returned stop; only sequential tasks may");
}

PartSteps::PartSteps(const Plan& plan, const Part& part, const std::vector<Module*>& modules)
    : part_(part), region_states_(plan.regions, 0) {
    for (std::uint32_t index = part.first_step; index < part.last_step; ++index) {
        steps_.push_back(run_step(plan, index, modules));
        ends_segment_ |= steps_.back().info->ends_segment();
    }
    for (RunStep& step : steps_) {
        step.next = at(step.step->next);
        step.jumps = step.next != &step + 1;
        step.next_at_hole = at(step.step->next_at_hole);
    }
}

RunStep PartSteps::run_step(const Plan& plan, std::uint32_t index, const std::vector<Module*>& modules) {
    const Step& step = plan.steps[index];
    Module* module = modules[step.task.id.module];
    const TaskInfo& info = module->tasks()[step.task.id.task];
    RunStep made{};
    made.call = info.call;
    made.module = module;
    made.places = plan.places[step.task.id.module].data();
    made.code = info.code;
    made.holes = step.task.holes;
    made.index = index;
    made.copies = !step.before.empty();
    made.step = &step;
    made.info = &info;
    if (step.task.firings > 1) {
        firings_.push_back(std::make_unique<Firings>(plan, index, *module));
        made.call = &Firings::fire;
        made.code = firings_.back()->code();
    }
    return made;
}

// Null for what lies beyond: the part ends, or the segment does.
const RunStep* PartSteps::at(std::uint32_t index) const {
    const std::uint32_t position = index - part_.first_step;
    const std::size_t before_end = steps_.size() - (ends_segment_ ? 1 : 0);
    return position < before_end ? &steps_[position] : nullptr;
}

const RunStep* PartSteps::steer(const RunStep& step, const FrameContext& context) {
    const ControlStep& control = step.step->control;
    std::uint32_t& state = region_states_[control.region];
    if (control.kind == ControlKind::switch_select || control.kind == ControlKind::loop_select) {
        const Copy& copy = control.inputs[state];
        std::memmove(bytes_at(context, copy.to), bytes_at(context, copy.from), copy.bytes);
        return step.next;
    }
    state = std::to_integer<std::uint8_t>(*bytes_at(context, control.control));
    if (control.kind == ControlKind::loop_commute) state = state != 0;
    if (state >= control.targets.size()) {
        throw std::out_of_range(
            fmt::format("control value {}, but there are {} paths, from 0", state, control.targets.size()));
    }
    return at(control.targets[state]);
}

// A hole in a switch or loop ends all of it.
const RunStep* PartSteps::leave_out(const RunStep& step) {
    if (step.info->control != ControlKind::none) region_states_[step.step->control.region] = 0;
    return step.next_at_hole;
}

}  // namespace tidemill
