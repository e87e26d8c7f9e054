#include "tidemill/tuning/graph_run.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "tidemill/machine/platform_error.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/ring_depth.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/scheduling/static/bound.hpp"
#include "tidemill/scheduling/static/cluster_placement.hpp"
#include "tidemill/scheduling/static/device_choice.hpp"
#include "tidemill/scheduling/static/frequencies.hpp"
#include "tidemill/scheduling/static/near_schedule.hpp"
#include "tidemill/tuning/adapt/adapted_run.hpp"
#include "tidemill/tuning/adapt/keep_adapting.hpp"
#include "tidemill/tuning/choose/auto_run.hpp"
#include "tidemill/tuning/choose/choice_file.hpp"
#include "tidemill/tuning/choose/cluster_report.hpp"
#include "tidemill/tuning/choose/dynamic_workers.hpp"
#include "tidemill/tuning/choose/forecast.hpp"
#include "tidemill/tuning/choose/known_factors.hpp"
#include "tidemill/tuning/choose/near_cores.hpp"
#include "tidemill/tuning/choose/wanted_latency.hpp"

namespace tidemill {

namespace {

using Clock = std::chrono::steady_clock;

std::function<bool()> or_after(double seconds, std::function<bool()> stop_when) {
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    return [end, stop_when = std::move(stop_when)] {
        const bool stop = stop_when && stop_when();
        return stop || Clock::now() >= end;
    };
}

// A schedule that does not fit is reported with the file that it came from: that has the fault, also where it
// names cores that are not there.
template <class Use>
auto used_from_file(const RunConfig& how, Use use) {
    const auto told = [&](const Error& error) {
        return ScheduleError(fmt::format("{}: {}", how.schedule_file, error.what()));
    };
    if (!how.schedule || how.schedule_file.empty()) return use();
    try {
        return use();
    } catch (const NoMoreThreads&) {
        throw;
    } catch (const ScheduleError& error) {
        throw told(error);
    } catch (const PlatformError& error) {
        throw told(error);
    }
}

}  // namespace

GraphRun::GraphRun(RunConfig how, const Topology& topology) : how_(std::move(how)), topology_(topology) {
    how_.executor = executor_ = resolved(how_);
    check(how_);
}

void GraphRun::prepare(const MakeProfile& make_profile) {
    if (how_.executor == ExecutorKind::automatic)  // before anybody waits for a run
        how_.scheduling.cores = cores_here(how_.scheduling.cores, topology_);
    if (how_.executor == ExecutorKind::dynamic) how_.scheduling.cores = cores_of_workers(how_, topology_);
    if (how_.executor != ExecutorKind::pipeline) return;
    if (how_.schedule) {
        if (how_.latency_us) throw RunError("a wanted latency needs a profile: leave schedule out");
        schedule_ = how_.schedule;
        if (!how_.adapt) return;
        if (how_.scheduling.cores)
            used_from_file(how_, [&] { tidemill::check(*schedule_, *how_.scheduling.cores); });
    }
    how_.scheduling.cores = cores_here(how_.scheduling.cores, topology_);
    profile_ = make_profile({.cores = how_.scheduling.cores, .seconds = how_.profile_s});
    warnings_ = profile_->warnings;
    if (schedule_) used_from_file(how_, [&] { tidemill::check(*schedule_, *profile_); });
    choose_near_schedule();
    predict();
}

// Stages that talk get cores that are near each other, also those of a schedule that was given and does not
// name them.
void GraphRun::choose_near_schedule() {
    std::optional<internal::NearCores> near;
    if (how_.pinned) near = internal::NearCores::measured(topology_, *how_.scheduling.cores);
    if (near)
        how_.scheduling.model.far_cuts =
            how_.schedule ? near->far_cuts_beside(*how_.schedule) : near->far_cuts();
    if (!schedule_) choose_schedule();
    const CostModel model = how_.scheduling.model_for(*profile_);
    place_in_clusters(*schedule_, *profile_, model);
    if (!model.far_cuts.empty()) schedule_->period_us = period_us(*schedule_, *profile_, model);
    if (near && !how_.schedule) near->place(*schedule_);
}

// A device that gains less than what forecasts are wrong by is left alone.
void GraphRun::choose_schedule() {
    constexpr double kLeastGain = 0.02;
    schedule_ = internal::schedule_within_latency(*profile_, how_, warnings_);
    if (schedule_) return internal::limit_in_flight(*schedule_, *profile_, how_, warnings_);
    ScheduleConfig& wanted = how_.scheduling;
    const Platform cores = wanted.cores_for(*profile_);
    const Strategy& asked = wanted.chosen_strategy();
    const Objective objective = wanted.objective_for(*profile_);
    const CostModel model = wanted.model_for(*profile_);
    Platform with_devices = cores;
    for (const std::string& kind : profile_->kinds)
        if (profile_->is_device(kind)) with_devices.set(kind, 1);
    const DeviceChoice choice = choose_device(near_schedule(asked, *profile_, cores, objective, model),
                                              *profile_, with_devices, asked, objective, model, kLeastGain);
    schedule_ = choice.schedule;
    device_decision_ = {choice.device, choice.why};
    if (choice.device && how_.latency_us) make_batches_wait_less(cores);
    internal::limit_in_flight(*schedule_, *profile_, how_, warnings_);
    if (device_decision_->device) wanted.cores->set(*device_decision_->device, 1);
    if (device_decision_->why.empty()) device_decision_.reset();
}

// Halves the batches of a device until a frame may wait for one as long as is wanted, or leaves the device.
void GraphRun::make_batches_wait_less(const Platform& cores) {
    const ScheduleConfig& wanted = how_.scheduling;
    const CostModel model = wanted.model_for(*profile_);
    const Schedule alone =
        wanted.chosen_strategy().schedule(*profile_, cores, wanted.objective_for(*profile_), model);
    Schedule smaller = *schedule_;
    const auto stage = std::ranges::find(smaller.stages, *device_decision_->device, &Stage::core_kind);
    stage->batch = stage->batch.value_or(1);
    const int most = *stage->batch;
    const auto least_us = [&] { return ring_depth_for(*how_.latency_us, smaller, *profile_).latency_us; };
    while (least_us() > *how_.latency_us && *stage->batch > 1) *stage->batch /= 2;
    smaller.period_us = period_us(smaller, *profile_, model);
    if (least_us() <= *how_.latency_us && *smaller.period_us < *alone.period_us) {
        if (*stage->batch < most)
            device_decision_->why +=
                fmt::format("; for {:.0f} us of latency in batches of {}, with a period of {:.2f} us",
                            *how_.latency_us, *stage->batch, *smaller.period_us);
        schedule_ = smaller;
        return;
    }
    device_decision_ = {std::nullopt,
                        fmt::format("the device is left alone: within {:.0f} us of latency its batches would "
                                    "be too small to gain anything",
                                    *how_.latency_us)};
    schedule_ = alone;
}

void GraphRun::prepare_for(Profile known) {
    profile_ = std::move(known);
    if (how_.executor == ExecutorKind::automatic)
        how_.executor = executor_ = ExecutorKind::pipeline;  // all is known
    if (how_.executor == ExecutorKind::sequence || how_.executor == ExecutorKind::threads) return;
    if (how_.schedule) used_from_file(how_, [&] { tidemill::check(*how_.schedule, *profile_); });
    // A machine that nobody has described has what the schedule uses.
    if (how_.schedule && !how_.scheduling.cores)
        how_.scheduling.cores =
            at_least_used(at_frequencies(*profile_, profile_->cores, *how_.schedule), *how_.schedule);
    how_.scheduling.cores = how_.scheduling.cores_for(*profile_);
    if (how_.executor == ExecutorKind::dynamic) return;
    schedule_ = how_.schedule;
    if (!schedule_) schedule_ = internal::schedule_within_latency(*profile_, how_, warnings_);
    if (!schedule_) schedule_ = tidemill::schedule(*profile_, how_.scheduling);
    internal::limit_in_flight(*schedule_, *profile_, how_, warnings_);
    schedule_->task_names.clear();  // a graph made from a chain may call its units otherwise
    predict();
}

RunReport GraphRun::go(Graph& graph, RunOptions options, const Follow& follow) {
    options.finish = !options.checkpoint;  // a stream that is kept may go on
    if (how_.frames) options.frames = *how_.frames;
    if (how_.seconds) options.stop_when = or_after(*how_.seconds, std::move(options.stop_when));
    RunReport report = run_by_executor(graph, options, follow);
    internal::tell_clusters(report, topology_, how_.scheduling.model.far_cuts);
    return report;
}

RunReport GraphRun::run_by_executor(Graph& graph, const RunOptions& options, const Follow& follow) {
    switch (how_.executor) {
        case ExecutorKind::sequence:
            return Sequence(graph).run(options);
        case ExecutorKind::dynamic:
            return run_dynamic(graph, options);
        case ExecutorKind::automatic:
            return run_auto(graph, options, follow);
        case ExecutorKind::threads:
            schedule_ = thread_per_task(graph, how_.replicas);
            break;
        case ExecutorKind::pipeline:
            break;
    }
    if (!schedule_) throw RunError("a pipeline needs a schedule: call prepare() before go()");
    return run_pipeline(graph, options, follow);
}

RunReport GraphRun::run_dynamic(Graph& graph, const RunOptions& options) const {
    DynamicOptions workers = dynamic_workers(how_, topology_);
    const KnownFactors known(how_, cores_of_workers(how_, topology_));
    known.tell(workers);
    RunReport report = Dynamic(graph, std::move(workers)).run(options);
    known.remember(report);
    return report;
}

// Frames that come as the forecast says fill a batch in half of that.
double GraphRun::batch_wait_us() const {
    if (how_.batch_wait_us) return *how_.batch_wait_us;
    double most_us = PipelineOptions().batch_wait_us;
    if (!profile_) return most_us;
    for (const Stage& stage : schedule_->stages) {
        if (!stage.batch) continue;
        const BatchCost* cost = batch_cost(profile_->tasks[stage.first_task], stage.core_kind);
        if (cost && cost->frames > 0)
            most_us = std::max(most_us, 2 * *stage.batch / cost->frames * *predicted_period_us());
    }
    return most_us;
}

PipelineOptions GraphRun::pipeline_options() {
    constexpr double kHopUs = 0.2;  // what a hop costs where stages seldom wait: `tidemill bench hop`
    PipelineOptions options{
        .topology = how_.pinned ? &topology_ : nullptr,
        .ring_depth = how_.ring_depth,
        .waiting = how_.waiting.value_or(how_.pinned ? WaitMode::mixed : WaitMode::passive),
        .frames = how_.batch,
        .batch_wait_us = batch_wait_us(),
        .memory = how_.token_memory};
    if (!how_.latency_us) return options;
    const RingDepth depth = ring_depth_for(*how_.latency_us, *schedule_, *profile_, kHopUs);
    options.ring_depth = depth.depth;
    options.frames = depth.frames;
    return options;
}

RunReport GraphRun::run_pipeline(Graph& graph, const RunOptions& options, const Follow& follow) {
    if (how_.adapt && may_change_executor(how_, *profile_, *schedule_, options))
        return run_adapted(graph, options, follow);
    Pipeline pipeline = used_from_file(how_, [&] { return Pipeline(graph, *schedule_, pipeline_options()); });
    if (follow) follow(*schedule_);
    if (!how_.adapt) {
        RunReport report = pipeline.run(options);
        came_to_us_ = report.period_us();
        if (profile_) tell_best(report, *schedule_, *profile_);
        return report;
    }
    Adaptation adaptation(pipeline, *profile_, *schedule_,
                          {.cores = *how_.scheduling.cores,
                           .model = how_.scheduling.model_for(*profile_),
                           .strategy = &how_.scheduling.chosen_strategy(),
                           .objective = how_.scheduling.objective_for(*profile_),
                           .threshold = how_.adapt_threshold});
    RunOptions observed = options;
    observed.observers.push_back(&adaptation.observer());
    const auto look = [&] {
        if (adaptation.look() && follow) follow(adaptation.schedule());
    };
    KeepAdapting looks(look, how_.adapt_every_s);
    RunReport report = pipeline.run(observed);
    finish(looks);
    changes_ = adaptation.changes();
    // The forecast is of the first schedule.
    if (changes_.empty()) came_to_us_ = report.period_us();
    tell_best(report, adaptation.schedule(), adaptation.profile());
    return report;
}

RunReport GraphRun::run_adapted(Graph& graph, const RunOptions& options, const Follow& follow) {
    const auto run = used_from_file(
        how_, [&] { return std::make_unique<AdaptedRun>(graph, how_, topology_, *profile_, *schedule_); });
    KeepAdapting looks([&] { run->look(); }, how_.adapt_every_s);
    RunReport report = run->run(options, follow);
    finish(looks);
    warnings_.insert(warnings_.end(), run->warnings().begin(), run->warnings().end());
    executor_ = run->way().executor;
    changes_ = run->changes();
    if (changes_.empty()) came_to_us_ = report.period_us();
    if (run->way().schedule) tell_best(report, *run->way().schedule, run->profile());
    return report;
}

void GraphRun::finish(KeepAdapting& looks) {
    if (const std::string why = looks.finish(); !why.empty())
        warnings_.push_back("the schedule stayed as it was: " + why);
}

// The profile shows what the cores could do and what the schedule leaves of that; the rest the run lost, or
// its source had no more.
void GraphRun::tell_best(RunReport& report, const Schedule& schedule, const Profile& profile) const {
    if (report.frames == 0 || how_.executor == ExecutorKind::threads) return;
    const CostModel model = how_.scheduling.model_for(profile);
    const Objective objective = how_.scheduling.objective_for(profile);
    const Platform cores = usable(*how_.scheduling.cores, objective);
    const DistanceToBound distance = distance_to_bound(
        schedule, profile, cores, model, period_us(schedule, profile, model), objective.wanted_period_us);
    report.best = {in_words(cores.kinds()), report.period_us(), distance.bound_us,
                   fmt::format("the schedule's own of {:.2f} is {:.1f} % above it by the profile; {}",
                               distance.period_us, distance.percent(), distance.between)};
}

void GraphRun::predict() {
    model_ = how_.scheduling.model_for(*profile_);
    forecast_ = tidemill::forecast(*schedule_, *profile_, model_);
}

RunReport GraphRun::run_auto(Graph& graph, const RunOptions& options, const Follow& follow) {
    AutoRun run(graph, how_, topology_, is_steady_);
    how_.scheduling.cores = cores_here(how_.scheduling.cores, topology_);
    const ChoiceKey key = choice_key(graph, topology_, *how_.scheduling.cores);
    if (!how_.choices.empty() && !how_.fresh) start_as_before(run, key);
    RunReport report = run.run(options, follow);
    profile_ = run.profile();
    how_.scheduling.model.far_cuts = run.far_cuts();
    warnings_.insert(warnings_.end(), run.warnings().begin(), run.warnings().end());
    executor_ = run.last_way().executor;
    if (!run.has_chosen()) return report;
    choice_ = run.choice();
    executor_ = choice_->way.executor;
    schedule_ = choice_->way.schedule;
    forecast_ = choice_->forecast;
    came_to_us_ = run.chosen_period_us();
    const bool says_speed = !choice_->source_sets_pace();  // else what stands between is the source
    if (choice_->way.executor == ExecutorKind::pipeline && profile_) {
        model_ = how_.scheduling.model_for(*profile_);
        if (says_speed) tell_best(report, *schedule_, *profile_);
    }
    if (!how_.choices.empty()) remember(run, key);
    return report;
}

// A choice that cannot be used is as good as none, but that is reported.
void GraphRun::start_as_before(AutoRun& run, const ChoiceKey& key) {
    try {
        if (const std::optional<Choice> choice = remembered_choice(how_.choices, key))
            run.start_with(*choice);
    } catch (const std::exception& error) {
        warnings_.push_back(fmt::format("what was chosen before is not used: {}", message_of(error)));
    }
}

// One that was remembered, and did not keep what it promised, is made anew next time.
void GraphRun::remember(const AutoRun& run, const ChoiceKey& key) {
    constexpr double kBroken = 1.25;
    const Choice& choice = run.choice();
    try {
        if (!choice.is_remembered) {
            remember_choice(how_.choices, {key, choice});
        } else if (choice.forecast && came_to_us_ > kBroken * choice.forecast->most_us) {
            forget_choice(how_.choices, key);
        }
    } catch (const std::exception& error) {
        warnings_.push_back(fmt::format("what was chosen is not remembered: {}", message_of(error)));
    }
}

std::optional<double> GraphRun::predicted_period_us() const {
    if (choice_) return choice_->forecast ? std::optional(choice_->forecast->period_us) : std::nullopt;
    // Nobody predicts the system's period for a thread per task.
    if (!schedule_ || how_.executor == ExecutorKind::threads) return std::nullopt;
    if (!profile_) return schedule_->period_us;
    return period_us(*schedule_, *profile_, model_);
}

}  // namespace tidemill
