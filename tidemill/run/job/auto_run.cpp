#include "tidemill/run/job/auto_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tidemill/run/dynamic/dynamic_engine.hpp"
#include "tidemill/run/engine.hpp"
#include "tidemill/run/job/dynamic_workers.hpp"
#include "tidemill/run/job/platform_here.hpp"
#include "tidemill/run/pipeline_cut.hpp"
#include "tidemill/run/profile/profiler.hpp"
#include "tidemill/run/run_error.hpp"

namespace tidemill {

namespace {

using internal::FirstFrames;
using internal::FramePace;
using internal::kUnsure;

// Before the tasks are weighed, and while they are: a short stream is over by then.
constexpr double kStartSeconds = 0.005;
constexpr std::uint64_t kStartFrames = 2;
constexpr double kWeighSeconds = 0.03;
constexpr std::uint64_t kWeighFrames = 12;

constexpr double kNoFaster = 0.98;
constexpr double kTrialsSeconds = 0.05;
constexpr std::uint64_t kTurnFrames = 24;

}  // namespace

AutoRun::AutoRun(Graph& graph, const HowToRun& how, const Topology& topology, IsSteady is_steady)
    : graph_(graph),
      how_(how),
      topology_(topology),
      is_steady_(std::move(is_steady)),
      relay_(graph),
      in_order_(std::make_shared<Engine>(graph, cut_in_order(relay_.structure()))) {
    how_.scheduling.cores = cores_here(how_.scheduling.cores, topology_);
}

AutoRun::~AutoRun() = default;

void AutoRun::start_with(const Choice& choice) {
    if (choice.way.executor == Executor::threads &&
        choice.way.schedule->stages != thread_per_task(relay_.structure()).stages)
        throw RunError("its schedule has no thread per task of this graph");
    chosen_ = runner_for(choice.way);
    choice_ = choice;
    phase_ = Phase::chosen;
}

RunReport AutoRun::run(const RunOptions& options, const Follow& follow) {
    follow_ = follow;
    frames_wanted_ = options.frames;
    RunReport report = relay_.run(options, [this](const Relay::Done* before) { return next(before); });
    const std::uint64_t frames = relay_.last().report.frames;
    if (frames > 0) last_period_us_ = relay_.last().elapsed_s * 1e6 / static_cast<double>(frames);
    if (first_frames_ && first_frames_->forecast()) {
        choice_.forecast = first_frames_->forecast();
        last_period_us_ = first_frames_->later_period_us(frames);
    }
    return report;
}

Relay::Leg AutoRun::next(const Relay::Done* before) {
    switch (phase_) {
        case Phase::starting:
            if (!before) return in_order_for(kStartSeconds, kStartFrames);
            phase_ = Phase::weighing;
            profile_.emplace();
            skip_unused_kinds();
            return weigh_next_kind();
        case Phase::weighing:
            add_weights(before->report);
            ++kind_;
            skip_unused_kinds();
            if (kind_ < topology_.kinds.size()) return weigh_next_kind();
            find_candidates();
            phase_ = Phase::trying;
            if (!pays_to_try()) return choose(0);
            trials_.emplace(candidates_.size());
            return try_next();
        case Phase::trying:
            trials_->tell(pace_->period_us(before->report.frames, in_order_us_));
            return try_next();
        case Phase::chosen:
            break;
    }
    return go_on();
}

Relay::Leg AutoRun::in_order_for(double seconds, std::uint64_t frames) {
    const auto pace = pace_ = std::make_shared<FramePace>();
    return {.runner = in_order_, .is_over = [this, pace, seconds, frames] {
                pace->asked();
                const bool is_enough = pace->asked_so_far() > frames && pace->seconds() >= seconds;
                return is_enough && (!is_steady_ || is_steady_());
            }};
}

void AutoRun::skip_unused_kinds() {
    const std::vector<CoreKind>& kinds = topology_.kinds;
    while (kind_ < kinds.size() && how_.scheduling.cores->count(kinds[kind_].name) == 0) ++kind_;
}

// On a machine with one kind of cores the calling thread goes on as it is.
Relay::Leg AutoRun::weigh_next_kind() {
    log_ = std::make_unique<WeightLog>(relay_.structure());
    Relay::Leg leg = in_order_for(kWeighSeconds, kWeighFrames);
    if (topology_.kinds.size() > 1 && how_.pinned) {
        const std::size_t core = topology_.kinds[kind_].cores.front();
        leg.runner =
            std::make_shared<Engine>(graph_, cut_in_order(relay_.structure(), topology_.cores[core].pus));
    }
    leg.observers = {log_.get()};
    return leg;
}

void AutoRun::add_weights(const RunReport& report) {
    if (profile_->kinds.empty())
        in_order_came_to_us_ = pace_->seconds() * 1e6 / static_cast<double>(pace_->asked_so_far() - 1);
    const std::string& kind = topology_.kinds[kind_].name;
    const int cores = how_.scheduling.cores->count(kind);
    add_kind(*profile_, kind, cores, graph_, relay_.structure(), report, log_->weights());
}

void AutoRun::find_candidates() {
    if (how_.pinned) near_cores_ = internal::NearCores::measured(topology_, *how_.scheduling.cores);
    internal::PromisingWays found =
        internal::promising_ways(*profile_, how_, thread_per_task(relay_.structure()), hand_over_us());
    in_order_us_ = found.in_order_us;
    choice_.bound_us = found.bound_us;
    warnings_.insert(warnings_.end(), found.warnings.begin(), found.warnings.end());
    for (internal::PromisingWay& each : found.ways) candidates_.push_back({std::move(each)});
    make_runners();
}

// What cannot run this graph is not tried: dynamic workers need copies of modules, and room for a frame.
void AutoRun::make_runners() {
    std::erase_if(candidates_, [this](Candidate& each) {
        try {
            each.runner = runner_for(each.way);
            return false;
        } catch (const std::exception& error) {
            warnings_.push_back(fmt::format("{} was not tried: {}", each.way.name(), error.what()));
            return true;
        }
    });
    if (candidates_.empty()) candidates_.push_back({{{}, in_order_us_}, in_order_});
}

// What the trials take must be little of what is left.
bool AutoRun::pays_to_try() const {
    if (candidates_.size() < 2) return false;
    if (frames_wanted_ == kEndless) return true;
    const auto frames_left = static_cast<double>(frames_wanted_ - relay_.frames_so_far());
    return frames_left * candidates_.front().forecast_us > 10 * kTrialsSeconds * 1e6;
}

Relay::Leg AutoRun::try_next() {
    const std::optional<Trials::Turn> turn = trials_->next();
    if (!turn) return choose(trials_->best());
    Candidate& candidate = candidates_[turn->candidate];
    follow(candidate.way);
    pace_ = std::make_shared<FramePace>();
    const auto wanted =
        static_cast<std::uint64_t>(turn->seconds * 1e6 / std::max(0.01, candidate.forecast_us));
    return {.runner = candidate.runner, .frames = std::max(wanted, kTurnFrames), .is_over = [pace = pace_] {
                return pace->asked(), false;
            }};
}

std::shared_ptr<StretchRunner> AutoRun::runner_for(const Choice::Way& way) const {
    if (way.executor == Executor::dynamic) {
        HowToRun how = how_;
        how.executor = Executor::dynamic;
        how.policy = way.policy;
        return std::make_shared<DynamicEngine>(graph_, dynamic_workers(how, topology_));
    }
    if (!way.schedule) return in_order_;
    const bool is_pinned = how_.pinned && way.executor == Executor::pipeline;
    const PipelineOptions options{
        .topology = is_pinned ? &topology_ : nullptr,
        .ring_depth = how_.ring_depth,
        .waiting = how_.waiting.value_or(is_pinned ? WaitMode::mixed : WaitMode::passive)};
    Schedule schedule = *way.schedule;
    if (near_cores_) near_cores_->place(schedule);
    return std::make_shared<Engine>(graph_, cut_of(graph_, schedule, options));
}

void AutoRun::follow(const Choice::Way& way) {
    last_way_ = way;
    if (!follow_) return;
    const Schedule in_order{.stages = {{0, relay_.structure().units.size(), 1, ""}}};
    follow_(way.schedule ? *way.schedule : in_order);
}

Relay::Leg AutoRun::choose(std::size_t candidate) {
    phase_ = Phase::chosen;
    Candidate& chosen = candidates_[candidate];
    const auto add_tried = [&](std::size_t c) {
        if (const auto periods = trials_->periods(c))
            choice_.tried.push_back({candidates_[c].way.name(), periods->undisturbed_us});
    };
    const double forecast_us = chosen.forecast_us;
    choice_.forecast = {forecast_us, 0.9 * forecast_us, 1.15 * forecast_us};
    if (trials_) {
        add_tried(candidate);
        for (std::size_t c = 0; c < candidates_.size(); ++c)
            if (c != candidate) add_tried(c);
        const Trials::Periods periods = *trials_->periods(candidate);
        choice_.forecast = {periods.undisturbed_us, (1 - kUnsure) * periods.least_us,
                            (1 + kUnsure) * periods.most_us};
    }
    choice_.way = chosen.way;
    chosen_ = chosen.runner;
    // Where all that promised more was slower, as it came out. By the clock, as the trials are.
    const double in_order_us = in_order_came_to_us_;
    if (trials_ && choice_.forecast->period_us > kNoFaster * in_order_us) {
        choice_.way = {};
        choice_.forecast = {in_order_us, (1 - kUnsure) * in_order_us, (1 + kUnsure) * in_order_us};
        std::erase_if(choice_.tried,
                      [&](const Choice::Tried& each) { return each.name == choice_.way.name(); });
        choice_.tried.insert(choice_.tried.begin(), {choice_.way.name(), in_order_us});
        chosen_ = nullptr;
    }
    candidates_.clear();  // threads of the others end here
    return go_on();
}

Relay::Leg AutoRun::go_on() {
    if (!chosen_) chosen_ = runner_for(choice_.way);
    follow(choice_.way);
    if (choice_.is_remembered) return {.runner = chosen_};
    const std::optional<Schedule>& schedule = choice_.way.schedule;
    const double share = schedule ? schedule->stages[0].turns().frames_per_turn(0) : 1;
    first_frames_ = std::make_shared<FirstFrames>(share, in_flight(choice_.way));
    return {.runner = chosen_, .is_over = [first = first_frames_] { return first->asked(), false; }};
}

// In whole nanoseconds, since weights are exact decimals.
double AutoRun::hand_over_us() const {
    if (!near_cores_ || !near_cores_->hand_over_us()) return internal::kUsualHandOverUs;
    return std::round(1000 * *near_cores_->hand_over_us()) / 1000;
}

std::uint64_t AutoRun::in_flight(const Choice::Way& way) const {
    constexpr std::uint64_t kMostOfWorkers = 64;  // without any window: see DynamicOptions
    if (way.executor == Executor::sequence) return 1;
    if (!way.schedule) return std::min(how_.window.iterations, kMostOfWorkers);
    std::uint64_t frames = 0;
    for (const Stage& stage : way.schedule->stages) frames += stage.frames_held() + how_.ring_depth;
    return frames;
}

}  // namespace tidemill
