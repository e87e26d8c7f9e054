#include "tidemill/tuning/adapt/adapted_run.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "tidemill/runtime/execute/pipeline.hpp"

namespace tidemill {

namespace {

constexpr double kRemembered = 0.95;  // of what a factor differs from 1, from look to look

AdaptationOptions options_of(const RunConfig& how, const Profile& profile) {
    return {.cores = *how.scheduling.cores,
            .model = how.scheduling.model_for(profile),
            .strategy = &how.scheduling.chosen_strategy(),
            .objective = how.scheduling.objective_for(profile),
            .threshold = how.adapt_threshold};
}

double in_order_us(const Profile& profile) {
    double sum_us = 0;
    for (const ChainTask& task : profile.tasks) sum_us += task.weight_us.front();
    return sum_us;
}

}  // namespace

bool may_change_executor(const RunConfig& how, const Profile& profile, const Schedule& schedule,
                         const RunOptions& options) {
    const ScheduleConfig& scheduling = how.scheduling;
    const bool is_for_speed = !scheduling.rate_hz && scheduling.objective == Objective{};
    const bool needs_stages = how.latency_us || how.batch > 1 || how.batch_wait_us || how.token_memory ||
                              schedule.frames_in_flight || options.late != Late::wait;
    return is_for_speed && !needs_stages && profile.kinds.size() == 1;
}

AdaptedRun::AdaptedRun(Graph& graph, const RunConfig& how, const Topology& topology, Profile profile,
                       Schedule schedule)
    : graph_(graph),
      how_(how),
      options_(options_of(how, profile)),
      relay_(graph),
      runners_(graph, relay_.structure(), how_, topology),
      live_(relay_.structure()),
      profile_(std::move(profile)),
      way_{.executor = ExecutorKind::pipeline, .schedule = std::move(schedule)},
      runner_(runners_.make(way_)) {}

RunReport AdaptedRun::run(const RunOptions& options, const Follow& follow) {
    follow_ = follow;
    RunOptions observed = options;
    observed.observers.push_back(&live_);
    RunReport report = relay_.run(observed, [this](const Relay::Done* before) { return next(before); });
    report.bubbles_us = bubbles_us_;
    return report;
}

bool AdaptedRun::look() {
    const std::lock_guard lock(mutex_);
    if (wish_ || trials_) return false;
    const LiveWindow seen = live_.take(options_.least_frames);
    if (seen.frames == 0) return false;
    profile_ = updated(std::move(profile_), schedule_of(way_), seen, on_kinds_);
    forget_a_little();
    wish_ = wish_for();
    has_wish_.store(wish_.has_value(), std::memory_order_relaxed);
    return wish_.has_value();
}

std::optional<AdaptedRun::Wish> AdaptedRun::wish_for() const {
    if (way_.executor == ExecutorKind::pipeline) {
        if (std::optional<Schedule> better = better_schedule(profile_, *way_.schedule, options_)) {
            const double period = *better->period_us;
            return Wish{.to = {{.executor = ExecutorKind::pipeline, .schedule = std::move(better)}, period},
                        .now_us = period_us(*way_.schedule, profile_, options_.model)};
        }
    }
    return other_executor();
}

// The one that promises most of those that promise more.
std::optional<AdaptedRun::Wish> AdaptedRun::other_executor() const {
    const internal::RunCandidates found = internal::run_candidates(
        profile_, how_, thread_per_task(relay_.structure()), runners_.hand_over_us());
    const double now_us = forecast_us(way_, found);
    double least_us = (1 - options_.threshold) * now_us * factor(way_.executor);
    const internal::RunCandidate* best = nullptr;
    for (const internal::RunCandidate& each : found.ways) {
        const ExecutorKind executor = each.way.executor;
        const double expected_us = each.forecast_us * factor(executor);
        if (executor == way_.executor || executor == ExecutorKind::threads || expected_us >= least_us)
            continue;
        least_us = expected_us;
        best = &each;
    }
    if (!best) return std::nullopt;
    return Wish{.to = *best, .now_us = now_us, .is_to_be_tried = true};
}

double AdaptedRun::forecast_us(const Choice::Way& way, const internal::RunCandidates& found) const {
    if (way.schedule) return period_us(*way.schedule, profile_, options_.model);
    if (way.executor == ExecutorKind::dynamic) return dynamic_forecast_us(profile_, found, options_.cores);
    return found.in_order_us;
}

double AdaptedRun::factor(ExecutorKind executor) const {
    const auto known = factors_.find(executor);
    return known == factors_.end() ? 1 : known->second;
}

// Results from long ago may be otherwise now; those of the running executor are known.
void AdaptedRun::forget_a_little() {
    for (auto& [executor, factor] : factors_)
        if (executor != way_.executor) factor = 1 + kRemembered * (factor - 1);
}

// No frame is in flight.
Relay::Leg AdaptedRun::next(const Relay::Done* before) {
    const std::lock_guard lock(mutex_);
    if (!before) return go_on();
    if (trials_) trials_->tell(*before);
    if (wish_) fulfil();
    if (!trials_) return go_on();
    if (std::optional<Relay::Leg> turn = trials_->next()) {
        follow(trials_->current().way);
        return *std::move(turn);
    }
    end_trials();
    return go_on();
}

void AdaptedRun::fulfil() {
    has_wish_.store(false, std::memory_order_relaxed);
    const Wish wish = *std::exchange(wish_, std::nullopt);
    Candidate to{wish.to};
    try {
        to.runner = runners_.make(to.way);
    } catch (const std::exception& error) {
        warnings_.push_back(fmt::format("{} was not tried: {}", to.way.name(), message_of(error)));
        factors_[to.way.executor] = std::numeric_limits<double>::infinity();
        return;
    }
    if (!wish.is_to_be_tried) {
        change_to(to, wish.now_us, to.forecast_us);
        const std::chrono::duration<double, std::micro> bubble = Clock::now() - wish.since;
        bubbles_us_.push_back(bubble.count());
        return;
    }
    const Candidate now{{way_, wish.now_us}, runner_};
    trials_.emplace(graph_, std::vector{now, to}, in_order_us(profile_));
}

void AdaptedRun::end_trials() {
    const std::vector<Candidate>& candidates = trials_->candidates();
    std::vector<double> came_us;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        came_us.push_back(trials_->compared_us(c).value_or(candidates[c].forecast_us));
        factors_[candidates[c].way.executor] = came_us[c] / candidates[c].forecast_us;
    }
    if (!trials_->best().way.is_same(way_)) change_to(trials_->best(), came_us.front(), came_us.back());
    trials_.reset();
    live_.take();  // what was seen is of both
}

void AdaptedRun::change_to(const Candidate& to, double before_us, double after_us) {
    AdaptationChange change{relay_.frames_so_far(), before_us, after_us};
    if (to.way.executor != way_.executor) {
        change.from = way_.name();
        change.to = to.way.name();
    }
    changes_.push_back(std::move(change));
    way_ = to.way;
    runner_ = to.runner;
    live_.take();
}

Relay::Leg AdaptedRun::go_on() {
    follow(way_);
    return {.runner = runner_, .is_over = [this] { return has_wish_.load(std::memory_order_relaxed); }};
}

void AdaptedRun::follow(const Choice::Way& way) const {
    if (follow_) follow_(schedule_of(way));
}

Schedule AdaptedRun::schedule_of(const Choice::Way& way) const {
    if (way.schedule) return *way.schedule;
    return {.stages = {{0, profile_.tasks.size(), 1, profile_.kinds.front()}}};
}

}  // namespace tidemill
