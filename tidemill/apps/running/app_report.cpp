#include <fmt/format.h>

#include "tidemill/apps/running/app_job.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/base/plural.hpp"
#include "tidemill/scheduling/model/schedule_json.hpp"

namespace tidemill::cli {

namespace {

// The profile predicts nothing for a thread per task, on whatever cores the system gives it.
bool is_predicted(const AppOutcome& outcome) {
    return outcome.executor != ExecutorKind::threads && outcome.profile && outcome.schedule &&
           !outcome.profile->tasks.empty();
}

std::string tables(const AppOutcome& outcome) {
    std::string text = "\nTasks\n" + task_table(outcome.run);
    if (is_predicted(outcome)) {
        text +=
            "\nSchedule (from the profile)\n" + to_table(*outcome.schedule, *outcome.profile, outcome.model);
    }
    if (const std::string kinds = kind_table(outcome.run); !kinds.empty())
        text += "\nKinds of cores\n" + kinds;
    text += "\nStages\n" + stage_table(outcome.run);
    std::size_t tokens = 0;
    for (const SegmentReport& segment : outcome.run.segments) tokens += segment.tokens;
    return text + fmt::format(
                      "\nlatency    {:.2f} us in the median, {:.2f} us at 99 %, {:.2f} us at most\n"
                      "memory     {} token{}, {} bytes\n",
                      outcome.run.latency.p50_us, outcome.run.latency.p99_us, outcome.run.latency.most_us,
                      tokens, plural(tokens), outcome.run.token_bytes());
}

// Frames that did not come in time; empty when all did.
std::string late_text(const RunReport& run) {
    std::string text;
    if (run.dropped > 0)
        text += fmt::format("dropped    {} frame{}, for which there was no room\n", run.dropped,
                            plural(run.dropped));
    for (const TaskReport& task : run.tasks) {
        if (task.late > 0)
            text += fmt::format("late       {} frame{}, at {}\n", task.late, plural(task.late), task.name);
    }
    return text;
}

}  // namespace

std::string report_text(const AppOutcome& outcome, bool stats) {
    std::string text = outcome.result;
    if (!text.empty() && text.back() != '\n') text += '\n';
    text +=
        fmt::format("frames     {} begun, {} delivered, {} skipped{}\n", outcome.run.frames,
                    outcome.run.delivered, outcome.run.skipped, outcome.interrupted ? ", interrupted" : "");
    const auto& predicted_us = outcome.predicted_period_us;
    text += fmt::format("period     {:.2f} us a frame{}\n", outcome.period_us(),
                        predicted_us ? fmt::format(", predicted {:.2f}", *predicted_us) : "");
    text += account_text(outcome.account) + best_possible_line(outcome.run) + error_lines(outcome.run) +
            late_text(outcome.run) + changes_text(outcome.changes) +
            energy_text(outcome.run.energy, outcome.run.frames, stats);
    return stats ? text + tables(outcome) : text;
}

std::string report_json(const AppOutcome& outcome) {
    const auto& predicted_us = outcome.predicted_period_us;
    Json json{{"program", outcome.program},
              {"result", outcome.result},
              {"executor", to_string(outcome.executor)},
              {"frames", outcome.run.frames},
              {"delivered", outcome.run.delivered},
              {"skipped", outcome.run.skipped},
              {"interrupted", outcome.interrupted},
              {"elapsed_s", outcome.run.elapsed_s},
              {"period_us", outcome.period_us()},
              {"predicted_period_us", predicted_us ? Json(*predicted_us) : Json()}};
    json["choice"] = choice_json(outcome.account);
    json["forecast"] = forecast_json(outcome.account);
    json["adaptations"] = changes_json(outcome.changes);
    json["run"] = json_of(outcome.run);
    json["schedule"] =
        is_predicted(outcome) ? schedule_json(*outcome.schedule, *outcome.profile, outcome.model) : Json();
    return to_text(json, 2);
}

}  // namespace tidemill::cli
