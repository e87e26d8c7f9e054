#include "tidemill/scheduling/static/profile_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/scheduling/static/internal/from_json.hpp"

namespace tidemill {
namespace {

constexpr int kProfileVersion = 1;
constexpr int kMaxFrames = 1'000'000;
constexpr int kMaxCores = 1'000'000;

// The first task decides which kinds there are; the others may list them in any order.
std::vector<double> parse_weights(const JsonLocation& place, std::vector<std::string>& kinds) {
    const auto weights = internal::members_by_kind(place);
    if (weights.empty()) place.fail("no core kinds; give at least one weight, for instance {\"big\": 5}");
    if (kinds.empty())
        for (const auto& [kind, value] : weights) kinds.push_back(kind);
    for (const auto& [kind, value] : weights)
        if (std::ranges::find(kinds, kind) == kinds.end())
            place.fail(
                fmt::format("core kind '{}' has no weight in the first task; give all tasks the same kinds, "
                            "null where one cannot run",
                            kind));
    std::vector<double> result;
    for (const auto& kind : kinds) {
        const auto found = std::ranges::find(weights, kind, [](const auto& member) { return member.first; });
        if (found == weights.end())
            place.fail(
                fmt::format("the weight on '{}' is missing; null says that the task cannot run there", kind));
        if (found->second.value().type_name() == "null") {
            result.push_back(kCannotRun);
            continue;
        }
        const double weight = found->second.number();
        if (weight < 0) found->second.fail(fmt::format("weight {} is negative; expected at least 0", weight));
        result.push_back(weight);
    }
    return result;
}

double at_least_0(const JsonLocation& place) {
    const double number = place.number();
    if (number < 0) place.fail(fmt::format("{}; expected at least 0", number));
    return number;
}

BatchLine parse_line(const JsonLocation& place) {
    const JsonObject object(place, {"batch_us", "frame_us"});
    return {at_least_0(object.at("batch_us")), at_least_0(object.at("frame_us"))};
}

BatchParts parse_parts(const JsonLocation& place) {
    const JsonObject object(place, {"copies", "kernel", "frame_bytes", "memory"});
    BatchParts parts{parse_line(object.at("copies")), parse_line(object.at("kernel")),
                     at_least_0(object.at("frame_bytes")), object.at("memory").text()};
    if (!parts.is_measured()) object.at("memory").fail("it is empty; expected a memory policy");
    return parts;
}

Json line_json(const BatchLine& line) {
    return {{"batch_us", line.batch_us}, {"frame_us", line.frame_us}};
}

Json batches_json(const BatchCost& cost) {
    Json json{{"batch_us", cost.batch_us},
              {"frame_us", cost.frame_us},
              {"frames", cost.frames},
              {"host_us", cost.host_us},
              {"most_frames", cost.most_frames}};
    if (cost.alone.is_measured())
        json["alone"] = {{"copies", line_json(cost.alone.copies)},
                         {"kernel", line_json(cost.alone.kernel)},
                         {"frame_bytes", cost.alone.frame_bytes},
                         {"memory", cost.alone.memory}};
    if (cost.in != BatchLine{} || cost.out != BatchLine{})
        json["resident"] = {{"in", line_json(cost.in)}, {"out", line_json(cost.out)}};
    return json;
}

std::vector<BatchCost> parse_batches(const JsonLocation& place) {
    std::vector<BatchCost> costs;
    for (const auto& [kind, cost] : internal::members_by_kind(place)) {
        const JsonObject object(
            cost, {"batch_us", "frame_us", "frames", "host_us", "most_frames", "alone", "resident"});
        costs.push_back({kind, at_least_0(object.at("batch_us")), at_least_0(object.at("frame_us")),
                         at_least_0(object.at("frames")), at_least_0(object.at("host_us")),
                         object.at("most_frames").integer(1, kMaxFrames)});
        if (object.has("alone")) costs.back().alone = parse_parts(object.at("alone"));
        if (!object.has("resident")) continue;
        const JsonObject resident(object.at("resident"), {"in", "out"});
        costs.back().in = parse_line(resident.at("in"));
        costs.back().out = parse_line(resident.at("out"));
    }
    return costs;
}

std::vector<WeightSpread> parse_spread(const JsonLocation& place, const std::vector<std::string>& kinds) {
    std::vector<WeightSpread> spread(kinds.size());
    for (const auto& [kind, value] : internal::members_by_kind(place)) {
        const auto found = std::ranges::find(kinds, kind);
        if (found == kinds.end()) place.fail(fmt::format("core kind '{}' has no weight here", kind));
        const JsonObject object(value, {"error_us", "p99_us", "once_us"});
        spread[static_cast<std::size_t>(found - kinds.begin())] = {at_least_0(object.at("error_us")),
                                                                   at_least_0(object.at("p99_us")),
                                                                   at_least_0(object.at("once_us"))};
    }
    return spread;
}

ChainTask parse_task(const JsonLocation& place, std::vector<std::string>& kinds) {
    const JsonObject object(
        place, {"name", "replicable", "weight", "bytes_after", "lacks_word", "batches", "spread"});
    ChainTask task{object.at("name").text(), object.at("replicable").flag(),
                   parse_weights(object.at("weight"), kinds)};
    if (object.has("bytes_after")) {
        const JsonLocation bytes = object.at("bytes_after");
        task.bytes_after = bytes.number();
        if (task.bytes_after < 0) bytes.fail(fmt::format("{} bytes; expected at least 0", task.bytes_after));
    }
    if (object.has("batches")) task.batches = parse_batches(object.at("batches"));
    if (object.has("spread")) task.spread = parse_spread(object.at("spread"), kinds);
    if (object.has("lacks_word")) task.lacks_word = object.at("lacks_word").flag();
    return task;
}

Platform parse_cores(const JsonLocation& place) {
    Platform cores;
    for (const auto& [kind, count] : internal::members_by_kind(place))
        cores.set(kind, count.integer(0, kMaxCores));
    return cores;
}

void check_header(const JsonObject& object) {
    if (object.has("version")) object.at("version").integer(kProfileVersion, kProfileVersion);
    if (object.has("unit") && object.at("unit").text() != "us")
        object.at("unit").fail(fmt::format("unit '{}', expected 'us'", object.at("unit").text()));
}

Json task_json(const ChainTask& task, const std::vector<std::string>& kinds) {
    Json weight = Json::object();
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        const double weight_us = task.weight_us[kind];
        weight[kinds[kind]] = weight_us == kCannotRun ? Json() : Json(weight_us);
    }
    Json json{{"name", task.name}, {"replicable", task.replicable}, {"weight", weight}};
    if (task.bytes_after > 0) json["bytes_after"] = task.bytes_after;
    if (task.lacks_word) json["lacks_word"] = true;
    for (std::size_t kind = 0; kind < task.spread.size(); ++kind) {
        const WeightSpread& spread = task.spread[kind];
        json["spread"][kinds[kind]] = {
            {"error_us", spread.error_us}, {"p99_us", spread.p99_us}, {"once_us", spread.once_us}};
    }
    for (const BatchCost& cost : task.batches) json["batches"][cost.kind] = batches_json(cost);
    return json;
}

Profile profile_at(const JsonLocation& place) {
    const JsonObject object(
        place, {"version", "unit", "measured_by", "warnings", "frames_per_execution", "cores", "tasks"});
    check_header(object);
    Profile profile;
    if (object.has("measured_by")) profile.measured_by = object.at("measured_by").text();
    if (object.has("frames_per_execution"))
        profile.frames_per_execution = object.at("frames_per_execution").integer(1, kMaxFrames);
    if (object.has("cores")) profile.cores = parse_cores(object.at("cores"));
    if (object.has("warnings"))
        for (const auto& warning : object.at("warnings").elements())
            profile.warnings.push_back(warning.text());
    for (const auto& task : object.at("tasks").elements())
        profile.tasks.push_back(parse_task(task, profile.kinds));
    try {
        check(profile);
    } catch (const ScheduleError& error) {
        place.fail(error.what());
    }
    return profile;
}

}  // namespace

Profile parse_profile(std::string_view text, std::string_view source) {
    return internal::from_json_text(text, source, profile_at);
}

Profile read_profile(const std::filesystem::path& path) {
    return internal::from_json_file(path, profile_at);
}

std::string to_json(const Profile& profile) {
    Json json{{"version", kProfileVersion}, {"unit", "us"}};
    if (!profile.measured_by.empty()) json["measured_by"] = profile.measured_by;
    if (!profile.warnings.empty()) json["warnings"] = profile.warnings;
    json["frames_per_execution"] = profile.frames_per_execution;
    for (const auto& [kind, count] : profile.cores.kinds())
        if (count > 0) json["cores"][kind] = count;
    json["tasks"] = Json::array();
    for (const auto& task : profile.tasks) json["tasks"].push_back(task_json(task, profile.kinds));
    return internal::file_text(json);
}

void write_profile(const Profile& profile, const std::filesystem::path& path) {
    internal::write_file(path, to_json(profile));
}

}  // namespace tidemill
