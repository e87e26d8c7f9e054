#include "tidemill/tuning/choose/run_candidates.hpp"

#include <algorithm>
#include <utility>

#include "tidemill/scheduling/static/bound.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/near_schedule.hpp"
#include "tidemill/scheduling/static/packed.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill::internal {

namespace {

// Cost of a way beyond its tasks, in microseconds: `tidemill bench dynamic`.
constexpr double kDynamicTaskUs = 0.03;
constexpr double kWakeUs = 2;  // of a thread that the system puts to sleep for each frame

constexpr double kNearBound = 1.005;
constexpr double kPackingEffort = 0.01;  // of the usual search
constexpr double kShorter = 0.98;

// Forecasts are off by so much; more is not worth a trial.
constexpr double kPromising = 1.25;
constexpr double kWorthATrial = 0.95;  // of the period in order
constexpr std::size_t kMostTried = 5;

int count(const Platform& cores) {
    int all = 0;
    for (const CoreCount& kind : cores.kinds()) all += kind.count;
    return all;
}

/// Facts of a graph, and the ways to run it that were found.
class Finding {
  public:
    Finding(const Profile& profile, const RunConfig& how, double hand_over_us)
        : profile_(profile), how_(how), hand_over_us_(hand_over_us) {
        cores_ = count(*how.scheduling.cores);
    }

    RunCandidates find(const Schedule& thread_per_task);

  private:
    void add_pipelines();
    void add_pipeline(Schedule schedule);
    void add_dynamic(const std::string& policy);
    void add_thread_per_task(const Schedule& schedule);
    void keep_promising();

    const Profile& profile_;
    const RunConfig& how_;
    double hand_over_us_;
    int cores_ = 0;
    RunCandidates found_{};
};

RunCandidates Finding::find(const Schedule& thread_per_task) {
    for (const ChainTask& task : profile_.tasks) found_.in_order_us += task.weight_us.front();
    found_.ways.push_back({{}, found_.in_order_us});
    try {
        add_pipelines();
    } catch (const ScheduleError& error) {
        found_.warnings.push_back(std::string("not all pipelines were tried: ") + error.what());
    }
    add_dynamic(how_.policy);
    if (how_.policy == RunConfig().policy) add_dynamic("oldest");
    add_thread_per_task(thread_per_task);
    keep_promising();
    return std::move(found_);
}

// The strategy's, and what is shorter: stages on several kinds of cores, and threads that own several stages.
// The stream stands still meanwhile, so the search is short, and what is near the bound is enough.
void Finding::add_pipelines() {
    CostModel model = how_.scheduling.model_for(profile_);
    if (model.has_published_periods()) model.hop_us = hand_over_us_;
    const Platform cores = how_.scheduling.cores_for(profile_);
    found_.bound_us = bound_of(profile_, cores, model).period_us;
    const auto add = [&](const MakeSchedule& make) {
        add_pipeline(near_schedule(profile_, cores, model, make));
    };
    add_pipeline(near_schedule(how_.scheduling.chosen_strategy(), profile_, cores,
                               how_.scheduling.objective_for(profile_), model));
    const auto kinds =
        std::ranges::count_if(cores.kinds(), [](const CoreCount& kind) { return kind.count > 0; });
    if (kinds > 1)
        add([&](const Platform& some, const CostModel& price) { return mixed(profile_, some, {}, price); });
    const Objective near_bound{.wanted_period_us = kNearBound * found_.bound_us};
    add([&](const Platform& some, const CostModel& price) {
        return packed(profile_, some, near_bound, price, kPackedLetters, kPackingEffort);
    });
}

// One that gains nothing over those before it is left out: it has more threads or turns to wait for.
void Finding::add_pipeline(Schedule schedule) {
    const double forecast_us = *schedule.period_us;
    const bool is_shorter = std::ranges::all_of(found_.ways, [&](const RunCandidate& each) {
        return each.way.executor != ExecutorKind::pipeline || forecast_us < kShorter * each.forecast_us;
    });
    if (!is_shorter) return;
    found_.ways.push_back(
        {{.executor = ExecutorKind::pipeline, .schedule = std::move(schedule)}, forecast_us});
}

void Finding::add_dynamic(const std::string& policy) {
    found_.ways.push_back({{.executor = ExecutorKind::dynamic, .policy = policy},
                           dynamic_forecast_us(profile_, found_, *how_.scheduling.cores)});
}

// Period that the system reaches, at best.
void Finding::add_thread_per_task(const Schedule& schedule) {
    double work_us = 0;
    double longest_us = 0;
    for (const ChainTask& task : profile_.tasks) {
        work_us += task.weight_us.front() + kWakeUs;
        longest_us = std::max(longest_us, task.weight_us.front() + kWakeUs);
    }
    found_.ways.push_back(
        {{.executor = ExecutorKind::threads, .schedule = schedule}, std::max(longest_us, work_us / cores_)});
}

// Those of the least forecasts, in the order of preference; or in order alone, where nothing promises more.
void Finding::keep_promising() {
    std::vector<double> forecasts_us;
    for (const RunCandidate& each : found_.ways) forecasts_us.push_back(each.forecast_us);
    std::ranges::sort(forecasts_us);
    const bool is_in_order_best = forecasts_us.front() > kWorthATrial * found_.in_order_us;
    const double most_us = std::min(kPromising * forecasts_us.front(),
                                    forecasts_us[std::min(kMostTried, forecasts_us.size()) - 1]);
    std::erase_if(found_.ways, [&](const RunCandidate& each) {
        return is_in_order_best ? each.way.executor != ExecutorKind::sequence : each.forecast_us > most_us;
    });
}

}  // namespace

// The bound, or what it would be without sequential tasks, with what each task costs to hand out.
double dynamic_forecast_us(const Profile& profile, const RunCandidates& found, const Platform& cores) {
    const double handing_us = kDynamicTaskUs * static_cast<double>(profile.tasks.size());
    const double least_us = found.bound_us > 0 ? found.bound_us : found.in_order_us / count(cores);
    return least_us + handing_us / count(cores);
}

RunCandidates run_candidates(const Profile& profile, const RunConfig& how, const Schedule& thread_per_task,
                             double hand_over_us) {
    return Finding(profile, how, hand_over_us).find(thread_per_task);
}

}  // namespace tidemill::internal
