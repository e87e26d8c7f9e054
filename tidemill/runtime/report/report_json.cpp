#include "tidemill/base/json.hpp"
#include "tidemill/runtime/report/report.hpp"

namespace tidemill {

namespace {

Json json_of(const DurationReport& durations) {
    return {{"count", durations.count},     {"total_us", durations.total_us}, {"mean_us", durations.mean_us},
            {"min_us", durations.least_us}, {"p50_us", durations.p50_us},     {"p90_us", durations.p90_us},
            {"p99_us", durations.p99_us},   {"max_us", durations.most_us}};
}

Json json_of(const TaskReport& task, const RunReport& report) {
    Json json{{"name", task.name}, {"unit", report.units[task.unit].name}, {"late", task.late}};
    json.update(json_of(task.calls));
    return json;
}

Json json_of(const StageReport& stage, const RunReport& report) {
    Json json{{"first", report.units[stage.first_unit].name}, {"units", stage.units}};
    json["threads"] = Json::array();
    for (const ThreadReport& thread : stage.threads) {
        Json& each = json["threads"].push_back({{"cores", thread.cores}, {"work_us", thread.work_us}});
        each["pull_wait"] = json_of(thread.pull_waits);
        each["push_wait"] = json_of(thread.push_waits);
        if (!thread.not_pinned.empty()) each["not_pinned"] = thread.not_pinned;
    }
    return json;
}

Json json_of(const UnitOnKind& on, const RunReport& report) {
    return {{"unit", report.units[on.unit].name},
            {"kind", on.kind},
            {"calls", on.calls},
            {"total_us", on.total_us},
            {"factor", on.factor},
            {"quality", on.quality}};
}

Json json_of(const std::optional<BestPossible>& best) {
    if (!best) return {};
    return {{"cores", best->cores},
            {"period_us", best->period_us},
            {"bound_us", best->bound_us},
            {"percent_above", best->percent()},
            {"between", best->between}};
}

Json json_of(const SegmentReport& segment) {
    return {{"tokens", segment.tokens}, {"bytes", segment.bytes}, {"frames", segment.frames}};
}

Json json_of(const ClusterReport& cluster) {
    return {{"kind", cluster.kind},
            {"cores", cluster.cores},
            {"core_count", cluster.core_count},
            {"cores_used", cluster.cores_used},
            {"busy", cluster.busy}};
}

Json json_of(const EnergyUse& energy, std::uint64_t frames) {
    const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    Json domains = Json::object();
    for (const EnergyDomain& domain : energy.domains) domains[domain.name] = domain.joules;
    return {{"joules", number(energy.joules)},
            {"average_watts", number(energy.watts())},
            {"joules_per_frame", number(energy.joules_per(static_cast<double>(frames)))},
            {"meter", energy.meter},
            {"domains", domains},
            {"not_measured", energy.not_measured}};
}

}  // namespace

Json json_of(const RunReport& report) {
    Json json{{"frames", report.frames},
              {"delivered", report.delivered},
              {"skipped", report.skipped},
              {"dropped", report.dropped},
              {"late", report.late},
              {"elapsed_s", report.elapsed_s},
              {"period_us", report.period_us()},
              {"token_bytes", report.token_bytes()}};
    json["bottleneck"] = bottleneck(report);
    json["bubbles_us"] = report.bubbles_us;
    json["latency"] = json_of(report.latency);
    json["energy"] = json_of(report.energy, report.frames);
    json["tasks"] = Json::array();
    for (const TaskReport& task : report.tasks) json["tasks"].push_back(json_of(task, report));
    json["lost_marks"] = Json::object();
    for (const auto& [socket, marks] : report.lost_marks) json["lost_marks"][socket] = marks;
    json["stages"] = Json::array();
    for (const StageReport& stage : report.stages) json["stages"].push_back(json_of(stage, report));
    json["segments"] = Json::array();
    for (const SegmentReport& segment : report.segments) json["segments"].push_back(json_of(segment));
    json["clusters"] = Json::array();
    for (const ClusterReport& cluster : report.clusters) json["clusters"].push_back(json_of(cluster));
    json["on_kinds"] = Json::array();
    for (const UnitOnKind& on : report.on_kinds) json["on_kinds"].push_back(json_of(on, report));
    json["best_possible"] = json_of(report.best);
    if (!report.emulated.empty()) json["emulated"] = report.emulated;
    return json;
}

std::string to_json(const RunReport& report) {
    return to_text(json_of(report), 2);
}

}  // namespace tidemill
