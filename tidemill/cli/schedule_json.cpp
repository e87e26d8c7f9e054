#include "tidemill/cli/schedule_json.hpp"

namespace tidemill::cli {

nlohmann::ordered_json schedule_json(const Schedule& schedule, const Chain& chain) {
    nlohmann::ordered_json json{{"period", period_us(schedule, chain)}, {"unit", "us"}};
    json["cores"] = nlohmann::ordered_json::object();
    for (const CoreCount& kind : cores_used(schedule)) json["cores"][kind.kind] = kind.count;
    for (const Stage& stage : schedule.stages) {
        nlohmann::ordered_json names = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < stage.task_count; ++i)
            names.push_back(chain.tasks[stage.first_task + i].name);
        json["stages"].push_back({{"tasks", names},
                                  {"cores", stage.threads},
                                  {"kind", stage.core_kind},
                                  {"weight", stage_weight_us(stage, chain)}});
    }
    return json;
}

}  // namespace tidemill::cli
