#include "tidemill/apps/running/watched_run.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

#include <fmt/format.h>

#include "tidemill/apps/running/watch.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/base/plural.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/tuning/choose/forecast.hpp"

namespace tidemill::cli {

namespace {

using Clock = std::chrono::steady_clock;

// Source frames that have run. A question whether to go on means that the frames before are done.
class FrameCount {
  public:
    explicit FrameCount(std::uint64_t most) : most_(static_cast<double>(most)) {}

    // Only the first thread of the first stage is asked; the others have their turns between, or are ahead of
    // it.
    void follow(const Schedule& schedule) {
        per_turn_.store(schedule.stages[0].turns().frames_per_turn(0), std::memory_order_relaxed);
    }

    void asked() {
        frames_.fetch_add(asked_for_, std::memory_order_relaxed);
        asked_for_ = per_turn_.load(std::memory_order_relaxed);
    }

    std::string line() const {
        const double elapsed_s = std::chrono::duration<double>(Clock::now() - start_).count();
        const double frames = std::min(most_, frames_.load(std::memory_order_relaxed));
        return fmt::format("{:7.1f} s  {:10.0f} frames  {:11.1f} frames/s", elapsed_s, frames,
                           frames / elapsed_s);
    }

  private:
    double most_;
    Clock::time_point start_ = Clock::now();
    std::atomic<double> per_turn_{1};
    double asked_for_ = 0;  // of the asked thread
    std::atomic<double> frames_{0};
};

}  // namespace

void announce(const GraphRun& run, const std::string& promise) {
    for (const std::string& warning : run.warnings()) warn(warning);
    if (run.device_decision()) tell("{}\n", run.device_decision()->why);
    if (!run.profile() || !run.schedule()) return;
    const std::size_t stages = run.schedule()->stages.size();
    const int threads = run.schedule()->thread_count();
    tell("scheduled in {} stage{} on {} thread{}, predicted {}\n", stages, plural(stages), threads,
         plural(threads), promise);
}

std::string promised_period(const GraphRun& run) {
    return fmt::format("{:.2f} us a frame", run.predicted_period_us().value_or(0));
}

WatchedRun::WatchedRun(const RunningOptions& options, Graph& graph)
    : graph_(graph),
      outside_(options.stop),
      energy_(find_energy_meter(options.energy_meter)),
      insight_(options.insight, graph) {}

void WatchedRun::go(GraphRun& run, RunOptions options, std::function<std::string()> line,
                    const GraphRun::Follow& follow) {
    FrameCount count(options.frames);
    if (!line) {
        line = [&] { return count.line(); };
        options.stop_when = [&] { return count.asked(), false; };
    }
    const std::size_t warned = run.warnings().size();
    {
        const Watch watch(std::move(line), outside_);
        const std::stop_callback end_waiting(watch.stop(), end_);
        options.stop = watch.stop();
        options.energy_meter = energy_.meter.get();
        insight_.watch(options);
        report_ = run.go(graph_, options, [&](const Schedule& schedule) {
            count.follow(schedule);
            if (follow) follow(schedule);
        });
        interrupted_ = watch.interrupted();
    }
    if (!energy_.meter) report_.energy.not_measured = energy_.reason;
    for (std::size_t i = warned; i < run.warnings().size(); ++i) warn(run.warnings()[i]);
}

void WatchedRun::write(const GraphRun& run) const {
    insight_.write(run.schedule(), report_);
}

RunAccount account_of(const GraphRun& run) {
    return {run.choice(), run.forecast(), run.forecast_came_to_us()};
}

std::string account_text(const RunAccount& account) {
    std::string text;
    if (account.choice) text += fmt::format("auto       {}\n", account.choice->line());
    if (account.forecast && account.came_to_us > 0)
        text += fmt::format("forecast   {} us a frame\n", in_words(*account.forecast, account.came_to_us));
    return text;
}

Json choice_json(const RunAccount& account) {
    if (!account.choice) return {};
    const Choice& choice = *account.choice;
    Json tried = Json::array();
    for (const Choice::Tried& each : choice.tried) {
        Json json{{"name", each.name}, {"period_us", each.period_us}};
        if (choice.source_sets_pace()) json["busiest_us"] = each.busiest_us;
        tried.push_back(std::move(json));
    }
    return {{"name", choice.way.name()},
            {"executor", to_string(choice.way.executor)},
            {"remembered", choice.is_remembered},
            {"source_sets_pace", choice.source_sets_pace()},
            {"tried", tried},
            {"bound_us", choice.bound_us}};
}

Json forecast_json(const RunAccount& account) {
    if (!account.forecast) return {};
    return {{"period_us", account.forecast->period_us},
            {"least_us", account.forecast->least_us},
            {"most_us", account.forecast->most_us},
            {"came_to_us", account.came_to_us > 0 ? Json(account.came_to_us) : Json()}};
}

std::string energy_text(const EnergyUse& energy, std::uint64_t frames, bool in_full) {
    const bool has_many_reasons = energy.not_measured.find(';') != std::string::npos;
    if (in_full || energy.joules || !has_many_reasons) return energy_line(energy, frames);
    return "energy     not measured (no meter answers; --stats says why)\n";
}

std::string changes_text(const std::vector<AdaptationChange>& changes) {
    std::string text;
    for (const AdaptationChange& change : changes) {
        if (change.to.empty())
            text += fmt::format("adapted    at frame {}: predicted {:.2f} us a frame instead of {:.2f}\n",
                                change.frame, change.after_us, change.before_us);
        else
            text += fmt::format("adapted    at frame {}: {}, in turns {:.2f} us a frame; {} {:.2f}\n",
                                change.frame, change.to, change.after_us, change.from, change.before_us);
    }
    return text;
}

Json changes_json(const std::vector<AdaptationChange>& changes) {
    Json json = Json::array();
    for (const AdaptationChange& change : changes) {
        json.push_back({{"frame", change.frame},
                        {"period_before_us", change.before_us},
                        {"period_us", change.after_us},
                        {"from", change.from.empty() ? Json() : Json(change.from)},
                        {"to", change.to.empty() ? Json() : Json(change.to)}});
    }
    return json;
}

}  // namespace tidemill::cli
