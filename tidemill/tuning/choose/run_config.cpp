#include "tidemill/tuning/choose/run_config.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/base/plural.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

const char* to_string(ExecutorKind executor) {
    switch (executor) {
        case ExecutorKind::pipeline:
            return "pipeline";
        case ExecutorKind::sequence:
            return "sequence";
        case ExecutorKind::threads:
            return "threads";
        case ExecutorKind::dynamic:
            return "dynamic";
        case ExecutorKind::automatic:
            return "auto";
    }
    return "";
}

ExecutorKind resolved(const RunConfig& how) {
    if (how.executor != ExecutorKind::automatic) return how.executor;
    if (how.emulation || how.factors || !how.remember.empty() || !how.places) return ExecutorKind::dynamic;
    const ScheduleConfig& scheduling = how.scheduling;
    const bool wants_other_than_speed = scheduling.rate_hz || scheduling.objective != Objective{};
    const bool needs_stages =
        how.schedule || how.latency_us || how.adapt || how.batch > 1 || how.batch_wait_us;
    return wants_other_than_speed || needs_stages ? ExecutorKind::pipeline : ExecutorKind::automatic;
}

void check(const RunConfig& how) {
    const char* const name = to_string(how.executor);
    if (how.executor != ExecutorKind::pipeline) {
        if (how.adapt)
            throw RunError(
                fmt::format("adapt needs a profile: the executor {} has none, leave it out", name));
        if (how.latency_us)
            throw RunError(fmt::format(
                "a wanted latency needs a profile: the executor {} has none, leave it out", name));
        if (how.schedule)
            throw RunError(fmt::format("the executor {} needs no schedule: leave schedule out", name));
    }
    if (how.emulation && how.executor != ExecutorKind::dynamic)
        throw RunError(fmt::format("the executor {} emulates no kinds of cores: take dynamic", name));
    const bool has_factors = how.factors || !how.remember.empty();
    if ((!how.places || has_factors) && how.executor != ExecutorKind::dynamic)
        throw RunError(fmt::format("the executor {} has no factors: take dynamic, or leave them out", name));
    const bool has_cores = how.scheduling.cores.has_value();
    if (has_cores && (how.executor == ExecutorKind::sequence || how.executor == ExecutorKind::threads))
        throw RunError(fmt::format("the executor {} does not choose its cores: leave cores out", name));
    if (has_cores && how.schedule && !how.adapt)
        throw RunError("a schedule says itself which cores it uses: leave cores out");
}

namespace {

// Threads are counted where they own several stages.
std::string pipeline_name(const Schedule& schedule) {
    const bool is_mixed =
        std::ranges::any_of(schedule.stages, [](const Stage& stage) { return stage.word.has_value(); });
    const auto counted = [](std::size_t count, const char* what) {
        return fmt::format("{} {}{}", count, what, plural(count));
    };
    const std::string name = "pipeline of " + counted(schedule.stages.size(), "stage");
    if (!schedule.owners().empty())
        return name + " on " + counted(static_cast<std::size_t>(schedule.thread_count()), "thread");
    return is_mixed ? "mixed " + name : name;
}

}  // namespace

std::string Choice::Way::name() const {
    switch (executor) {
        case ExecutorKind::dynamic:
            return fmt::format("dynamic ({})", policy);
        case ExecutorKind::threads:
            return "thread per task";
        case ExecutorKind::pipeline:
            return pipeline_name(*schedule);
        case ExecutorKind::sequence:
        case ExecutorKind::automatic:
            break;
    }
    return "in order";
}

bool Choice::Way::is_same(const Way& other) const {
    const auto stages = [](const Way& way) {
        return way.schedule ? way.schedule->stages : std::vector<Stage>();
    };
    return executor == other.executor && policy == other.policy && stages(*this) == stages(other);
}

std::string Choice::line() const {
    std::string text = way.name();
    if (is_remembered) text += ", as chosen before";
    const bool is_paced = source_sets_pace();
    for (std::size_t i = 0; i < tried.size(); ++i) {
        const Tried& each = tried[i];
        const double compared_us = is_paced ? each.busiest_us : each.period_us;
        if (i > 0)
            text += fmt::format("; {} {:.2f}", each.name, compared_us);
        else if (is_paced)
            text += fmt::format(", the source sets the pace: {:.2f} us, busiest thread {:.2f} us a frame",
                                each.period_us, compared_us);
        else
            text += fmt::format(": {:.2f} us", compared_us);
    }
    if (bound_us > 0) text += fmt::format("; bound {:.2f}", bound_us);
    return text;
}

}  // namespace tidemill
