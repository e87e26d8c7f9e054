#include "tidemill/run/job/auto_run.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "tidemill/run/dynamic/dynamic_engine.hpp"
#include "tidemill/run/engine.hpp"
#include "tidemill/run/job/dynamic_workers.hpp"
#include "tidemill/run/job/platform_here.hpp"
#include "tidemill/run/pipeline_cut.hpp"
#include "tidemill/run/profile/profiler.hpp"
#include "tidemill/schedule/bound.hpp"
#include "tidemill/schedule/herad.hpp"
#include "tidemill/schedule/packed.hpp"
#include "tidemill/schedule/schedule_error.hpp"

namespace tidemill {

namespace {

using Clock = std::chrono::steady_clock;

// Before the tasks are weighed, and while they are: a short stream is over by then.
constexpr double kStartSeconds = 0.005;
constexpr std::uint64_t kStartFrames = 2;
constexpr double kWeighSeconds = 0.03;
constexpr std::uint64_t kWeighFrames = 12;

// What a way costs beyond its tasks, in microseconds: `tidemill bench hop`, `bench dynamic`.
constexpr double kHandOverUs = 0.2;
constexpr double kDynamicTaskUs = 0.03;
constexpr double kWakeUs = 2;  // of a thread that the system puts to sleep for each frame

constexpr double kNearBound = 1.005;
constexpr double kPackingEffort = 0.01;  // of the usual search
constexpr double kShorter = 0.98;

// Forecasts are off by so much; more is not worth a trial.
constexpr double kPromising = 1.25;
constexpr double kWorthATrial = 0.95;  // of the period in order
constexpr double kNoFaster = 0.98;
constexpr std::size_t kMostTried = 5;
constexpr double kTrialsSeconds = 0.05;
constexpr std::uint64_t kTurnFrames = 24;

// What a turn may be off by, besides what the turns differ by.
constexpr double kUnsure = 0.05;

}  // namespace

/// When source frames begin, as the thread sees it that begins them.
class AutoRun::Pace {
  public:
    void asked() {
        now_ = Clock::now();
        if (asked_++ == 0) start_ = now_;
    }

    std::uint64_t asked_so_far() const { return asked_; }
    double seconds() const { return std::chrono::duration<double>(now_ - start_).count(); }

    /// Of so many frames that are all done now: the first took its time alone, the others came one period
    /// after the other.
    double period_us(std::uint64_t frames, double alone_us) const {
        const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start_;
        if (frames < 2 || elapsed.count() <= alone_us)
            return elapsed.count() / static_cast<double>(std::max<std::uint64_t>(1, frames));
        return (elapsed.count() - alone_us) / static_cast<double>(frames - 1);
    }

  private:
    std::uint64_t asked_ = 0;
    Clock::time_point start_ = Clock::now();
    Clock::time_point now_ = start_;
};

/// How the first frames of the way that was chosen came: from that the others are foretold. The thread that
/// is asked begins one frame of `share`; so many may be in flight before it has to wait.
class AutoRun::Beginning {
  public:
    Beginning(double share, std::uint64_t in_flight) : share_(share), in_flight_(in_flight) {}

    void asked() {
        if (is_over_) return;
        const auto frames = static_cast<std::uint64_t>(asked_++ * share_);
        if (frames < in_flight_) return;
        const Clock::time_point now = Clock::now();
        if (parts_.empty() || now - parts_.back().end >= kPart) parts_.push_back({frames, now});
        const auto least = static_cast<std::uint64_t>(kLeastFrames * share_) + in_flight_;
        is_over_ = parts_.size() > kParts && frames >= least;
    }

    /// Nothing while it is not over.
    std::optional<Forecast> forecast() const {
        if (!is_over_) return std::nullopt;
        std::vector<double> periods_us;
        for (std::size_t i = 1; i < parts_.size(); ++i)
            periods_us.push_back(period_us(parts_[i - 1], parts_[i]));
        std::ranges::sort(periods_us);
        const double mean_us = period_us(parts_.front(), parts_.back());
        const double spread_us =
            (periods_us[periods_us.size() * 3 / 4] - periods_us[periods_us.size() / 4]) / 2;
        return Forecast{mean_us, (1 - kUnsure) * std::max(0.0, mean_us - spread_us),
                        (1 + kUnsure) * (mean_us + spread_us)};
    }

    /// Of those that came later, until now.
    double later_period_us(std::uint64_t frames) const {
        const Part& last = parts_.back();
        return frames > last.frames ? period_us(last, {frames, Clock::now()}) : 0;
    }

  private:
    struct Part {
        std::uint64_t frames;
        Clock::time_point end;
    };

    static double period_us(const Part& from, const Part& to) {
        const std::chrono::duration<double, std::micro> elapsed = to.end - from.end;
        return elapsed.count() / static_cast<double>(to.frames - from.frames);
    }

    static constexpr std::chrono::milliseconds kPart{15};
    static constexpr std::size_t kParts = 8;
    static constexpr double kLeastFrames = 32;

    double share_;
    std::uint64_t in_flight_;
    double asked_ = 0;
    bool is_over_ = false;
    std::vector<Part> parts_;
};

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
    if (beginning_ && beginning_->forecast()) {
        choice_.forecast = beginning_->forecast();
        last_period_us_ = beginning_->later_period_us(frames);
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
    const auto pace = pace_ = std::make_shared<Pace>();
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

// In order comes first, then what needs fewest threads that share anything.
void AutoRun::find_candidates() {
    for (const ChainTask& task : profile_->tasks) in_order_us_ += task.weight_us.front();
    candidates_.push_back({{}, in_order_us_, in_order_});
    try {
        CostModel model = how_.scheduling.model_for(*profile_);
        if (model.has_published_periods()) model.hop_us = kHandOverUs;
        choice_.bound_us = bound_of(*profile_, how_.scheduling.cores_for(*profile_), model).period_us;
        add_pipelines(model);
    } catch (const ScheduleError& error) {
        warnings_.push_back(std::string("not all pipelines were tried: ") + error.what());
    }
    add_dynamic(choice_.bound_us, how_.policy);
    if (how_.policy == HowToRun().policy) add_dynamic(choice_.bound_us, "oldest");
    add_thread_per_task();
    keep_promising();
    make_runners();
}

// The strategy's, and what is shorter: stages on several kinds of cores, and threads that own several stages.
// The stream stands still meanwhile, so the search is short, and what is near the bound is enough.
void AutoRun::add_pipelines(const CostModel& model) {
    const Platform cores = how_.scheduling.cores_for(*profile_);
    add_pipeline(how_.scheduling.chosen_strategy().schedule(*profile_, cores,
                                                            how_.scheduling.objective_for(*profile_), model));
    const auto kinds =
        std::ranges::count_if(cores.kinds(), [](const CoreCount& kind) { return kind.count > 0; });
    if (kinds > 1) add_pipeline(mixed(*profile_, cores, {}, model));
    const Objective near_bound{.wanted_period_us = kNearBound * choice_.bound_us};
    add_pipeline(packed(*profile_, cores, near_bound, model, kPackedLetters, kPackingEffort));
}

// One that gains nothing over those before it is left out: it has more threads or turns to wait for.
void AutoRun::add_pipeline(Schedule schedule) {
    const double forecast_us = *schedule.period_us;
    const bool is_shorter = std::ranges::all_of(candidates_, [&](const Candidate& each) {
        return each.way.executor != Executor::pipeline || forecast_us < kShorter * each.forecast_us;
    });
    if (!is_shorter) return;
    candidates_.push_back({{.executor = Executor::pipeline, .schedule = std::move(schedule)}, forecast_us});
}

// The bound with what each task costs to hand out.
void AutoRun::add_dynamic(double bound_us, const std::string& policy) {
    int cores = 0;
    for (const CoreCount& kind : how_.scheduling.cores->kinds()) cores += kind.count;
    const double handing_us = kDynamicTaskUs * static_cast<double>(profile_->tasks.size());
    candidates_.push_back({{.executor = Executor::dynamic, .policy = policy}, bound_us + handing_us / cores});
}

// What the system makes of it, at best.
void AutoRun::add_thread_per_task() {
    int cores = 0;
    for (const CoreCount& kind : how_.scheduling.cores->kinds()) cores += kind.count;
    double work_us = 0;
    double longest_us = 0;
    for (const ChainTask& task : profile_->tasks) {
        work_us += task.weight_us.front() + kWakeUs;
        longest_us = std::max(longest_us, task.weight_us.front() + kWakeUs);
    }
    Schedule schedule = thread_per_task(relay_.structure());
    candidates_.push_back({{.executor = Executor::threads, .schedule = std::move(schedule)},
                           std::max(longest_us, work_us / cores)});
}

// Those of the least forecasts, in the order of preference; or in order alone, where nothing promises more.
void AutoRun::keep_promising() {
    std::vector<double> forecasts_us;
    for (const Candidate& each : candidates_) forecasts_us.push_back(each.forecast_us);
    std::ranges::sort(forecasts_us);
    const bool is_in_order_best = forecasts_us.front() > kWorthATrial * candidates_.front().forecast_us;
    const double most_us = std::min(kPromising * forecasts_us.front(),
                                    forecasts_us[std::min(kMostTried, forecasts_us.size()) - 1]);
    std::erase_if(candidates_, [&](const Candidate& each) {
        return is_in_order_best ? each.way.executor != Executor::sequence : each.forecast_us > most_us;
    });
}

// What cannot run this graph is not tried: dynamic workers need copies of modules, and room for a frame.
void AutoRun::make_runners() {
    std::erase_if(candidates_, [this](Candidate& each) {
        try {
            if (!each.runner) each.runner = runner_for(each.way);
            return false;
        } catch (const std::exception& error) {
            warnings_.push_back(fmt::format("{} was not tried: {}", each.way.name(), error.what()));
            return true;
        }
    });
    if (candidates_.empty()) candidates_.push_back({{}, in_order_us_, in_order_});
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
    pace_ = std::make_shared<Pace>();
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
    return std::make_shared<Engine>(graph_, cut_of(graph_, *way.schedule, options));
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
    beginning_ = std::make_shared<Beginning>(share, in_flight(choice_.way));
    return {.runner = chosen_, .is_over = [beginning = beginning_] { return beginning->asked(), false; }};
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
