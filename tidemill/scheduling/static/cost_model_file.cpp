#include "tidemill/scheduling/static/cost_model_file.hpp"

#include "tidemill/scheduling/static/internal/from_json.hpp"

namespace tidemill {
namespace {

double number_or_0(const JsonObject& object, std::string_view key) {
    return object.has(key) ? object.at(key).number() : 0;
}

std::vector<double> numbers(const JsonObject& object, std::string_view key) {
    std::vector<double> result;
    if (object.has(key))
        for (const JsonLocation& element : object.at(key).elements()) result.push_back(element.number());
    return result;
}

KindCosts parse_kind(const std::string& name, const JsonLocation& place) {
    const JsonObject object(place, {"busy_w", "idle_w", "slowdown", "shared_slowdown"});
    KindCosts kind{.kind = name,
                   .busy_w = number_or_0(object, "busy_w"),
                   .idle_w = number_or_0(object, "idle_w"),
                   .slowdown = numbers(object, "slowdown")};
    if (object.has("shared_slowdown")) kind.shared_slowdown = object.at("shared_slowdown").number();
    return kind;
}

Json kind_json(const KindCosts& kind) {
    Json json = Json::object();
    if (kind.busy_w > 0) json["busy_w"] = kind.busy_w;
    if (kind.idle_w > 0) json["idle_w"] = kind.idle_w;
    if (!kind.slowdown.empty()) json["slowdown"] = kind.slowdown;
    if (kind.shared_slowdown) json["shared_slowdown"] = *kind.shared_slowdown;
    return json;
}

JsonObject model_object(const JsonLocation& place) {
    return {place, {"stage_us", "hop_us", "byte_us", "bytes_at_cut", "kinds", "core_kinds", "memory"}};
}

FastestMemory parse_memory(const JsonLocation& place) {
    const JsonObject object(place, {"device", "bytes", "policy"});
    constexpr int kMostBytes = 1 << 30;
    return {object.at("device").text(), static_cast<std::size_t>(object.at("bytes").integer(1, kMostBytes)),
            object.at("policy").text()};
}

CostModel model_at(const JsonLocation& place) {
    const JsonObject object = model_object(place);
    if (object.has("core_kinds")) static_cast<void>(object.at("core_kinds").text());
    CostModel model{.stage_us = number_or_0(object, "stage_us"),
                    .hop_us = number_or_0(object, "hop_us"),
                    .byte_us = number_or_0(object, "byte_us"),
                    .bytes_at_cut = numbers(object, "bytes_at_cut")};
    if (object.has("kinds"))
        for (const auto& [name, kind] : internal::members_by_kind(object.at("kinds")))
            model.kinds.push_back(parse_kind(name, kind));
    if (object.has("memory"))
        for (const JsonLocation& memory : object.at("memory").elements())
            model.memory.push_back(parse_memory(memory));
    return model;
}

}  // namespace

CostModel parse_cost_model(std::string_view text, std::string_view source) {
    return internal::from_json_text(text, source, model_at);
}

CostModel read_cost_model(const std::filesystem::path& path) {
    return internal::from_json_file(path, model_at);
}

std::string read_core_kinds(const std::filesystem::path& path) {
    return internal::from_json_file(path, [](const JsonLocation& place) {
        const JsonObject object = model_object(place);
        if (!object.has("core_kinds"))
            place.fail("says nothing of kinds of cores; write it by calibrate --kinds");
        return object.at("core_kinds").text();
    });
}

std::string to_json(const CostModel& model, const std::string& core_kinds) {
    Json json{{"stage_us", model.stage_us}, {"hop_us", model.hop_us}, {"byte_us", model.byte_us}};
    if (!model.bytes_at_cut.empty()) json["bytes_at_cut"] = model.bytes_at_cut;
    json["kinds"] = Json::object();
    for (const KindCosts& kind : model.kinds) json["kinds"][kind.kind] = kind_json(kind);
    for (const FastestMemory& memory : model.memory)
        json["memory"].push_back(
            {{"device", memory.device}, {"bytes", memory.bytes}, {"policy", memory.policy}});
    if (!core_kinds.empty()) json["core_kinds"] = core_kinds;
    return internal::file_text(json);
}

void write_cost_model(const CostModel& model, const std::filesystem::path& path,
                      const std::string& core_kinds) {
    internal::write_file(path, to_json(model, core_kinds));
}

}  // namespace tidemill
