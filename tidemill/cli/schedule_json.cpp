#include "tidemill/cli/schedule_json.hpp"

namespace tidemill::cli {

namespace {

Json period_and_cores(const Schedule& schedule, const Json& period) {
    Json json{{"period", period}, {"unit", "us"}};
    json["cores"] = Json::object();
    for (const CoreCount& kind : cores_used(schedule)) json["cores"][kind.kind] = kind.count;
    return json;
}

void add_batch(Json& json, const Stage& stage) {
    if (stage.batch) json["stages"].get_if<Json::Array>()->back()["batch"] = *stage.batch;
}

}  // namespace

Json schedule_json(const Schedule& schedule, const Chain& chain) {
    Json json = period_and_cores(schedule, period_us(schedule, chain));
    for (const Stage& stage : schedule.stages) {
        Json names = Json::array();
        for (std::size_t i = 0; i < stage.task_count; ++i)
            names.push_back(chain.tasks[stage.first_task + i].name);
        json["stages"].push_back({{"tasks", names},
                                  {"cores", stage.threads},
                                  {"kind", stage.core_kind},
                                  {"weight", stage_weight_us(stage, chain)}});
        add_batch(json, stage);
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
                                  {"kind", stage.core_kind}});
        add_batch(json, stage);
    }
    return json;
}

}  // namespace tidemill::cli
