#include "tidemill/scheduling/model/schedule_json.hpp"

namespace tidemill::cli {

namespace {

Json period_and_cores(const Schedule& schedule, const Json& period) {
    Json json{{"period", period}, {"unit", "us"}};
    json["cores"] = Json::object();
    for (const CoreCount& kind : cores_used(schedule)) json["cores"][kind.kind] = kind.count;
    return json;
}

// Fields that few stages have.
void add_rest(Json& json, const Stage& stage) {
    Json& told = json["stages"].get_if<Json::Array>()->back();
    if (stage.batch) told["batch"] = *stage.batch;
    if (stage.word)
        for (const std::string& letter : letter_names(*stage.word)) told["word"].push_back(letter);
    for (const int owner : stage.owners) told["owners"].push_back(owner);
}

}  // namespace

Json schedule_json(const Schedule& schedule, const Chain& chain, const CostModel& model) {
    Json json = period_and_cores(schedule, period_us(schedule, chain, model));
    const std::vector<double> weights_us = stage_weights_us(schedule, chain, model);
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        const Stage& stage = schedule.stages[s];
        Json names = Json::array();
        for (std::size_t i = 0; i < stage.task_count; ++i)
            names.push_back(chain.tasks[stage.first_task + i].name);
        json["stages"].push_back({{"tasks", names},
                                  {"cores", stage.threads},
                                  {"kind", stage.kind_names()},
                                  {"weight", weights_us[s]}});
        add_rest(json, stage);
    }
    return json;
}

Json schedule_json(const Schedule& schedule) {
    Json json = period_and_cores(schedule, schedule.period_us ? Json(*schedule.period_us) : Json());
    for (const Stage& stage : schedule.stages) {
        Json names = Json::array();
        for (std::size_t i = 0; i < stage.task_count && !schedule.task_names.empty(); ++i)
            names.push_back(schedule.task_names[stage.first_task + i]);
        json["stages"].push_back({{"tasks", names},
                                  {"task_count", stage.task_count},
                                  {"cores", stage.threads},
                                  {"kind", stage.kind_names()}});
        add_rest(json, stage);
    }
    return json;
}

Json simulation_json(const SimReport& report, double predicted_us, const Profile& profile) {
    Json json{{"period", report.period_us},
              {"unit", "us"},
              {"predicted_period", predicted_us},
              {"frames_per_second", 1e6 * profile.frames_per_execution / report.period_us},
              {"executions", report.frames},
              {"elapsed", report.elapsed_us},
              {"tokens", report.tokens}};
    const SimLatency& latency = report.latency;
    json["latency"] = {{"mean", latency.mean_us}, {"least", latency.least_us}, {"median", latency.median_us},
                       {"p95", latency.p95_us},   {"p99", latency.p99_us},     {"most", latency.most_us}};
    for (const SimStageReport& stage : report.stages) {
        json["stages"].push_back({{"cores", stage.threads},
                                  {"kind", stage.kind},
                                  {"work", stage.work_us},
                                  {"occupancy", stage.occupancy}});
    }
    for (const SimOwnerReport& owner : report.owners) {
        Json numbers = Json::array();
        for (const std::size_t stage : owner.stages) numbers.push_back(stage + 1);
        json["threads"].push_back({{"name", owner.name},
                                   {"stages", numbers},
                                   {"work", owner.work_us},
                                   {"occupancy", owner.occupancy}});
    }
    if (report.energy_j > 0) {
        json["power_w"] = report.mean_w;
        json["energy_j"] = report.energy_j;
        json["mj_per_frame"] = report.mj_per_frame / profile.frames_per_execution;
    }
    return json;
}

}  // namespace tidemill::cli
