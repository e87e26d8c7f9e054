#include "tidemill/lab/waiting_job.hpp"

#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/lab/rehearsal.hpp"
#include "tidemill/lab/sim/published.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/scheduling/model/simulator.hpp"

namespace tidemill::cli {

namespace {

struct Case {
    const char* platform;
    Platform cores;
};

// All cores of each platform, and one setting with as many threads as the largest platform has cores.
std::vector<Case> cases() {
    std::vector<Case> all;
    for (const char* platform : {"opi5", "m1u", "ai370", "x7ti"}) {
        all.push_back({platform, published_profile(platform).cores});
    }
    all.push_back({"opi5", {.big = 10, .little = 10}});
    return all;
}

double predicted_us(const Schedule& schedule, const Profile& profile, std::uint64_t frames) {
    return simulate(model_of(schedule, profile), frames).period_us;
}

Json measure(const Case& setting, const Strategy& strategy, const WaitingOptions& options) {
    const Profile published = published_profile(setting.platform);
    const Schedule schedule = strategy.schedule(published, setting.cores);
    const Profile profile = stretched(published, schedule, 1000 * options.period_ms);
    const double predicted_ms = predicted_us(schedule, profile, options.frames) / 1000;
    if (!options.json) {
        print("{:<8}  {:<17}  {:<11}  {:>6}  {:>7}  {:>12.3f}  ", setting.platform, to_string(setting.cores),
              strategy.name, schedule.stages.size(), schedule.thread_count(), predicted_ms);
        flush_results();  // the prediction comes before the measurement
    }
    const double real_ms = waiting_period_us(schedule, profile, options.frames) / 1000;
    const double off_percent = 100 * (real_ms / predicted_ms - 1);
    if (!options.json) print("{:>8.3f}  {:>+6.2f}\n", real_ms, off_percent);
    return {{"platform", setting.platform},     {"cores", to_string(setting.cores)},
            {"strategy", strategy.name},        {"tasks", schedule.task_count()},
            {"stages", schedule.stages.size()}, {"threads", schedule.thread_count()},
            {"predicted_ms", predicted_ms},     {"real_ms", real_ms},
            {"off_percent", off_percent}};
}

}  // namespace

int run_waiting(const WaitingOptions& options) {
    if (!options.json) {
        print(
            "Pipelines of tasks that wait, {} frames each: does the runtime keep the predicted period?\n"
            "{:<8}  {:<17}  {:<11}  {:>6}  {:>7}  {:>12}  {:>8}  {:>6}\n",
            options.frames, "profile", "cores", "strategy", "stages", "threads", "predicted ms", "real ms",
            "off %");
    }
    Json results = Json::array();
    const std::span wanted = options.strategy ? std::span(options.strategy, 1) : published_strategies();
    for (const Case& setting : cases())
        for (const Strategy& each : wanted) results.push_back(measure(setting, each, options));
    if (options.json) {
        print("{}\n",
              to_text(Json{{"benchmark", "waiting"}, {"frames", options.frames}, {"runs", results}}, 2));
    } else {
        print(
            "Waiting shows hand-over and timers; it cannot show clocks, caches and memory, which made "
            "real computing pipelines up to 19 % slower than predicted.\n");
    }
    return kDone;
}

}  // namespace tidemill::cli
