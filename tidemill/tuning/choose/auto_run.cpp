#include "tidemill/tuning/choose/auto_run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tidemill/runtime/execute/engine.hpp"
#include "tidemill/runtime/execute/pipeline_cut.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/tuning/profile/platform_here.hpp"
#include "tidemill/tuning/profile/profiler.hpp"

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

}  // namespace

AutoRun::AutoRun(Graph& graph, const RunConfig& how, const Topology& topology, IsSteady is_steady)
    : graph_(graph),
      how_(how),
      topology_(topology),
      is_steady_(std::move(is_steady)),
      relay_(graph),
      runners_(graph, relay_.structure(), how_, topology) {
    how_.scheduling.cores = cores_here(how_.scheduling.cores, topology_);
}

AutoRun::~AutoRun() = default;

void AutoRun::start_with(const Choice& choice) {
    if (choice.way.executor == ExecutorKind::threads &&
        choice.way.schedule->stages != thread_per_task(relay_.structure()).stages)
        throw RunError("its schedule has no thread per task of this graph");
    chosen_ = runners_.make(choice.way);
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
            if (!pays_to_try()) return choose(candidates_.front());
            trials_.emplace(graph_, std::move(candidates_), in_order_us_);
            return try_next();
        case Phase::trying:
            trials_->tell(*before);
            return try_next();
        case Phase::chosen:
            break;
    }
    return go_on();
}

Relay::Leg AutoRun::in_order_for(double seconds, std::uint64_t frames) {
    const auto pace = pace_ = std::make_shared<FramePace>();
    return {.runner = runners_.in_order(), .is_over = [this, pace, seconds, frames] {
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
    std::vector<UnitWeight> weights = log_->weights();
    add_kind(*profile_, kind, cores, graph_, relay_.structure(), report, weights);
    double pace_us = 0;
    for (UnitWeight& weight : weights) {
        pace_us += weight.pace_us;
        weight.weight_us -= weight.pace_us;
    }
    add_kind(work_, kind, cores, graph_, relay_.structure(), report, weights);
    pace_us_ = std::max(pace_us_, pace_us);
}

void AutoRun::find_candidates() {
    runners_.measure_hand_overs();
    how_.scheduling.model.far_cuts = runners_.far_cuts();
    internal::RunCandidates found = ways_for(*profile_);
    in_order_us_ = found.in_order_us;
    choice_.bound_us = found.bound_us;
    std::vector<internal::RunCandidate> ways = std::move(found.ways);
    const bool in_order_alone = ways.size() == 1 && ways.front().way.executor == ExecutorKind::sequence;
    if (pace_us_ > kWaitsAtPace * in_order_us_ && !in_order_alone) ways = also_by_work(ways);
    for (internal::RunCandidate& each : ways) candidates_.push_back({std::move(each)});
    make_runners();
}

internal::RunCandidates AutoRun::ways_for(const Profile& profile) {
    internal::RunCandidates found =
        internal::run_candidates(profile, how_, thread_per_task(relay_.structure()), runners_.hand_over_us());
    warnings_.insert(warnings_.end(), found.warnings.begin(), found.warnings.end());
    return found;
}

// A source that is paced leaves its thread time for other work, so the cuts are to be without it. But a
// source that waits as long after each frame gets a thread to itself.
std::vector<internal::RunCandidate> AutoRun::also_by_work(const std::vector<internal::RunCandidate>& others) {
    internal::RunCandidates found = ways_for(work_);
    choice_.bound_us = found.bound_us;
    std::vector<internal::RunCandidate> ways{{{}, in_order_us_}};
    const auto add = [&](const internal::RunCandidate& added) {
        const auto is_same = [&](const internal::RunCandidate& each) { return each.way.is_same(added.way); };
        if (std::ranges::none_of(ways, is_same)) ways.push_back(added);
    };
    std::ranges::for_each(found.ways, add);
    std::ranges::for_each(others, add);
    return ways;
}

// Executors that cannot run this graph are not tried: dynamic workers need copies of modules, and room for a
// frame.
void AutoRun::make_runners() {
    std::erase_if(candidates_, [this](Candidate& each) {
        try {
            each.runner = runners_.make(each.way);
            return false;
        } catch (const std::exception& error) {
            warnings_.push_back(fmt::format("{} was not tried: {}", each.way.name(), message_of(error)));
            return true;
        }
    });
    if (candidates_.empty()) candidates_.push_back({{{}, in_order_us_}, runners_.in_order()});
}

// The time of the trials must be little of what is left.
bool AutoRun::pays_to_try() const {
    if (candidates_.size() < 2) return false;
    if (frames_wanted_ == kEndless) return true;
    const auto frames_left = static_cast<double>(frames_wanted_ - relay_.frames_so_far());
    return frames_left * candidates_.front().forecast_us > 10 * kTrialsSeconds * 1e6;
}

Relay::Leg AutoRun::try_next() {
    std::optional<Relay::Leg> turn = trials_->next();
    if (!turn) return choose(trials_->best());
    follow(trials_->current().way);
    return *std::move(turn);
}

void AutoRun::follow(const Choice::Way& way) {
    last_way_ = way;
    if (!follow_) return;
    const Schedule in_order{.stages = {{0, relay_.structure().units.size(), 1, ""}}};
    follow_(way.schedule ? *way.schedule : in_order);
}

Relay::Leg AutoRun::choose(const Candidate& chosen) {
    phase_ = Phase::chosen;
    const double forecast_us = chosen.forecast_us;
    choice_.forecast = {forecast_us, 0.9 * forecast_us, 1.15 * forecast_us};
    if (trials_) {
        choice_.tried = trials_->tried();
        const Trials::Periods periods = trials_->periods_of_best();
        choice_.forecast = {periods.undisturbed_us, (1 - kUnsure) * periods.least_us,
                            (1 + kUnsure) * periods.most_us};
    }
    choice_.way = chosen.way;
    chosen_ = chosen.runner;
    if (trials_ && !trials_->source_sets_pace()) stay_in_order_if_no_slower();
    candidates_.clear();  // threads of the others end here
    trials_.reset();
    return go_on();
}

// Where all that promised more was slower, as it came out. By the clock, as the trials are.
void AutoRun::stay_in_order_if_no_slower() {
    const double in_order_us = in_order_came_to_us_;
    if (choice_.forecast->period_us <= kNoFaster * in_order_us) return;
    choice_.way = {};
    choice_.forecast = {in_order_us, (1 - kUnsure) * in_order_us, (1 + kUnsure) * in_order_us};
    std::erase_if(choice_.tried, [&](const Choice::Tried& each) { return each.name == choice_.way.name(); });
    choice_.tried.insert(choice_.tried.begin(), {choice_.way.name(), in_order_us});
    chosen_ = nullptr;
}

Relay::Leg AutoRun::go_on() {
    if (!chosen_) chosen_ = runners_.make(choice_.way);
    follow(choice_.way);
    if (choice_.is_remembered) return {.runner = chosen_};
    const std::optional<Schedule>& schedule = choice_.way.schedule;
    const double share = schedule ? schedule->stages[0].turns().frames_per_turn(0) : 1;
    first_frames_ = std::make_shared<FirstFrames>(share, runners_.in_flight(choice_.way));
    return {.runner = chosen_, .is_over = [first = first_frames_] { return first->asked(), false; }};
}

}  // namespace tidemill
