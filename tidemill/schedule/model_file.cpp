#include "tidemill/schedule/model_file.hpp"

#include <nlohmann/json.hpp>

#include "tidemill/schedule/internal/json.hpp"

namespace tidemill {
namespace {

using internal::JsonObject;
using internal::JsonPlace;

double number_or_0(const JsonObject& object, std::string_view key) {
    return object.has(key) ? object.at(key).number() : 0;
}

std::vector<double> numbers(const JsonObject& object, std::string_view key) {
    std::vector<double> result;
    if (object.has(key))
        for (const JsonPlace& element : object.at(key).elements()) result.push_back(element.number());
    return result;
}

KindModel parse_kind(const std::string& name, const JsonPlace& place) {
    const JsonObject object(place, {"busy_w", "idle_w", "slowdown", "shared_slowdown"});
    KindModel kind{.kind = name,
                   .busy_w = number_or_0(object, "busy_w"),
                   .idle_w = number_or_0(object, "idle_w"),
                   .slowdown = numbers(object, "slowdown")};
    if (object.has("shared_slowdown")) kind.shared_slowdown = object.at("shared_slowdown").number();
    return kind;
}

internal::Json kind_json(const KindModel& kind) {
    internal::Json json = internal::Json::object();
    if (kind.busy_w > 0) json["busy_w"] = kind.busy_w;
    if (kind.idle_w > 0) json["idle_w"] = kind.idle_w;
    if (!kind.slowdown.empty()) json["slowdown"] = kind.slowdown;
    if (kind.shared_slowdown) json["shared_slowdown"] = *kind.shared_slowdown;
    return json;
}

}  // namespace

Model parse_model(std::string_view text, std::string_view source) {
    const internal::Json json = internal::parse_json(text, source);
    const JsonObject object({json, std::string(source)},
                            {"stage_us", "hop_us", "byte_us", "bytes_at_cut", "kinds"});
    Model model{.stage_us = number_or_0(object, "stage_us"),
                .hop_us = number_or_0(object, "hop_us"),
                .byte_us = number_or_0(object, "byte_us"),
                .bytes_at_cut = numbers(object, "bytes_at_cut")};
    if (object.has("kinds"))
        for (const auto& [name, place] : members(object.at("kinds")))
            model.kinds.push_back(parse_kind(name, place));
    return model;
}

Model read_model(const std::filesystem::path& path) {
    return parse_model(internal::read_text(path), path.string());
}

std::string to_json(const Model& model) {
    internal::Json json{{"stage_us", model.stage_us}, {"hop_us", model.hop_us}, {"byte_us", model.byte_us}};
    if (!model.bytes_at_cut.empty()) json["bytes_at_cut"] = model.bytes_at_cut;
    json["kinds"] = internal::Json::object();
    for (const KindModel& kind : model.kinds) json["kinds"][kind.kind] = kind_json(kind);
    return internal::print_json(json);
}

void write_model(const Model& model, const std::filesystem::path& path) {
    internal::write_text(path, to_json(model));
}

}  // namespace tidemill
