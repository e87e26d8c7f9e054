#include "tidemill/runtime/execute/late.hpp"

#include <fmt/format.h>

#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

bool is_source(const Plan& plan, const Step& step, const Module& module) {
    if (module.tasks()[step.task.id.task].recalls > 0) return false;
    const internal::AddressTable& addresses = plan.addresses[step.task.id.module];
    for (std::size_t s = 0; s < module.sockets().size(); ++s) {
        const SocketInfo& socket = module.sockets()[s];
        const bool reads = socket.task == step.task.id.task && socket.direction != Direction::out;
        if (reads && !socket.knob && addresses[s].base != internal::Base::constant) return false;
    }
    return true;
}

void check_may_drop(const Plan& plan) {
    for (const Step& step : plan.steps) {
        if (step.task.own_hole != kDroppedFrame) continue;
        throw RunError(
            fmt::format("{}: more than 62 replicable tasks may skip, so no frame can be dropped besides; let "
                        "one fewer skip",
                        step.task.name));
    }
}

namespace {

// Tasks that ran on a frame before it was dropped do not run in a replay, which knows that at once.
void check_may_drop_oldest(const Graph& graph, const Plan& plan, const EngineCut& cut) {
    const PlannedStage& first = plan.stages.front();
    if (cut.batch > 1 || (cut.stages.size() > 1 && cut.stages[1].gather > 1)) {
        throw RunError(
            "the oldest frame is dropped where one goes to a token: hand over single frames, or drop the "
            "newest");
    }
    if (first.parts.size() > 1) {
        throw RunError(
            fmt::format("{} in the first stage skips or repeats, so that no frame waits behind it: put it "
                        "into a later stage, or drop the newest",
                        plan.steps[first.parts.front().last_step - 1].task.name));
    }
    for (std::uint32_t at = 0; at < first.parts.front().last_step; ++at) {
        const Step& step = plan.steps[at];
        const Module& module = graph.module(step.task.id.module);
        const bool keeps = module.tasks()[step.task.id.task].options.replication == Replication::sequential;
        if (!keeps || is_source(plan, step, module)) continue;
        throw RunError(
            fmt::format("{} keeps state and is in the first stage: it would see frames that are dropped "
                        "behind it; put it into a later stage, or drop the newest",
                        step.task.name));
    }
}

}  // namespace

void check_may_drop_late(const Graph& graph, const Plan& plan, Late late, const EngineCut& cut) {
    check_may_drop(plan);
    if (late == Late::drop_oldest) check_may_drop_oldest(graph, plan, cut);
    if (plan.stages.front().threads > 1) {
        throw RunError(
            fmt::format("the first stage has {} threads: late frames are dropped where one thread "
                        "begins them; give it one, or let the source wait",
                        plan.stages.front().threads));
    }
    if (!cut.stages.front().owners.empty())
        throw RunError(
            "the first stage names the owners of its threads: late frames are dropped where the thread that "
            "begins "
            "them has no other stage; give it one of its own, or let the source wait");
    const Part& first = plan.stages.front().parts.front();
    for (std::uint32_t at = 0; at < plan.steps.size(); ++at) {
        const Step& step = plan.steps[at];
        if (!is_source(plan, step, graph.module(step.task.id.module))) continue;
        if (step.task.ends_segment)
            throw RunError(
                fmt::format("{} skips or repeats: a source of which late frames are dropped makes one "
                            "frame a call; let it wait",
                            step.task.name));
        if (at < first.last_step) continue;
        throw RunError(
            fmt::format("{} has no inputs and is not in the first stage: a late frame would be dropped "
                        "without it; put it there, or let sources wait",
                        step.task.name));
    }
}

}  // namespace tidemill
