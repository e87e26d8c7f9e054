#include "tidemill/cli/adapting.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tidemill::cli {

namespace {

/// Lets an adaptation look, again and again, from its making to its end.
class Adapting {
  public:
    Adapting(Adaptation& adaptation, double every_s, const std::function<void(const Schedule&)>& changed)
        : adaptation_(adaptation), changed_(changed), thread_([this, every_s](const std::stop_token& done) {
              look_until(done, std::chrono::duration<double>(every_s));
          }) {}

  private:
    void look_until(const std::stop_token& done, std::chrono::duration<double> period) {
        std::unique_lock lock(mutex_);
        while (!wake_.wait_for(lock, done, period, [&] { return done.stop_requested(); })) {
            if (done.stop_requested()) return;
            try {
                if (adaptation_.look() && changed_) changed_(adaptation_.schedule());
            } catch (const std::exception& error) {
                fmt::print(stderr, "warning: the schedule stays as it is: {}\n", error.what());
                return;
            }
        }
    }

    Adaptation& adaptation_;
    const std::function<void(const Schedule&)>& changed_;
    std::mutex mutex_;  // for the condition alone
    std::condition_variable_any wake_;
    std::jthread thread_;
};

}  // namespace

void add_adapt_options(Verb& verb, AdaptOptions& options) {
    verb.flag("--adapt", options.adapt, "Weigh the tasks while they run, and reschedule when that pays");
    verb.option("--adapt-every", options.every_s, "Seconds between two looks")
        .is(Kind::seconds)
        .in(between(0.01, 3600.0));
    verb.option("--adapt-threshold", options.threshold, "Part of the period that a change must save")
        .in(between(0.0, 0.99));
}

AdaptedRun run_adapting(Pipeline& pipeline, const Profile& profile, const Schedule& schedule,
                        const AdaptationOptions& how, double every_s, RunOptions run,
                        const std::function<void(const Schedule&)>& changed) {
    Adaptation adaptation(pipeline, profile, schedule, how);
    run.observers.push_back(&adaptation.observer());
    RunReport report;
    {
        const Adapting adapting(adaptation, every_s, changed);
        report = pipeline.run(run);
    }
    return {std::move(report), adaptation.changes()};
}

std::string changes_text(const std::vector<AdaptationChange>& changes) {
    std::string text;
    for (const AdaptationChange& change : changes) {
        text += fmt::format("adapted    at frame {}: predicted {:.2f} us a frame instead of {:.2f}\n",
                            change.frame, change.after_us, change.before_us);
    }
    return text;
}

nlohmann::ordered_json changes_json(const std::vector<AdaptationChange>& changes) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const AdaptationChange& change : changes) {
        json.push_back({{"frame", change.frame},
                        {"period_before_us", change.before_us},
                        {"period_us", change.after_us}});
    }
    return json;
}

}  // namespace tidemill::cli
