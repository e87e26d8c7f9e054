#include "tidemill/scheduling/unequal/factor_file.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tidemill/base/json_location.hpp"
#include "tidemill/base/text_file.hpp"
#include "tidemill/scheduling/static/internal/from_json.hpp"
#include "tidemill/scheduling/unequal/internal/as_bridge_error.hpp"

namespace tidemill::bridge {

namespace {

constexpr std::uint64_t kVersion = 1;
constexpr int kMostCores = 1'000'000;

double at_least_0(const JsonLocation& place) {
    const double number = place.number();
    if (number < 0) place.fail(fmt::format("{}; expected at least 0", number));
    return number;
}

std::string name_in(const JsonLocation& place) {
    std::string name = place.text();
    if (name.empty()) place.fail("a task without a name; give it the name that reports call it");
    return name;
}

Quality quality_in(const JsonLocation& place) {
    const std::string text = place.text();
    for (const Quality quality : {Quality::measured, Quality::estimated})
        if (text == to_string(quality)) return quality;
    place.fail(
        fmt::format("quality '{}'; expected measured or estimated, and what is absent is left out", text));
}

KnownTime time_at(const JsonLocation& place) {
    const JsonObject object(place, {"time_us", "calls", "quality", "joules"});
    KnownTime time{at_least_0(object.at("time_us")), object.at("calls").count(),
                   quality_in(object.at("quality"))};
    if (object.has("joules")) time.joules = at_least_0(object.at("joules"));
    return time;
}

KnownTask task_at(const JsonLocation& place, const Platform& cores) {
    const JsonObject object(place, {"name", "replicable", "calls_per_frame", "kinds"});
    KnownTask task{name_in(object.at("name"))};
    if (object.has("replicable")) task.replicable = object.at("replicable").flag();
    if (object.has("calls_per_frame")) task.calls_per_frame = at_least_0(object.at("calls_per_frame"));
    for (const auto& [kind, time] : tidemill::internal::members_by_kind(object.at("kinds"))) {
        if (cores.count(kind) == 0)
            time.fail(fmt::format("the file's cores are {}; give this kind there, too", to_string(cores)));
        task.kinds.emplace(kind, time_at(time));
    }
    return task;
}

Platform cores_at(const JsonLocation& place) {
    Platform cores;
    for (const auto& [kind, count] : tidemill::internal::members_by_kind(place))
        cores.set(kind, count.integer(1, kMostCores));
    return cores;
}

void check_header(const JsonObject& object) {
    const std::uint64_t version = object.at("version").count();
    if (version != kVersion)
        object.at("version").fail(
            fmt::format("version {} is of {} program, this one reads version {}; remove the file, and it is "
                        "learned anew",
                        version, version < kVersion ? "an older" : "a newer", kVersion));
    if (object.at("unit").text() != "us")
        object.at("unit").fail(fmt::format("unit '{}', expected 'us'", object.at("unit").text()));
}

FactorFile file_at(const JsonLocation& place) {
    const JsonObject object(place, {"version", "unit", "machine", "written", "cores", "known_tasks"});
    check_header(object);
    FactorFile file{.cores = cores_at(object.at("cores"))};
    if (object.has("machine")) file.machine = object.at("machine").text();
    if (object.has("written")) file.written = object.at("written").text();
    std::set<std::string, std::less<>> names;
    for (const JsonLocation& task : object.at("known_tasks").elements()) {
        file.tasks.push_back(task_at(task, file.cores));
        if (!names.insert(file.tasks.back().name).second)
            task.fail(fmt::format("two tasks are named '{}'; keep one", file.tasks.back().name));
    }
    return file;
}

Json json_of(const KnownTime& time) {
    Json json{{"time_us", time.us}, {"calls", time.calls}, {"quality", to_string(time.quality)}};
    if (time.joules) json["joules"] = *time.joules;
    return json;
}

Json json_of(const KnownTask& task) {
    Json json{{"name", task.name},
              {"replicable", task.replicable},
              {"calls_per_frame", task.calls_per_frame},
              {"kinds", Json::object()}};
    for (const auto& [kind, time] : task.kinds)
        if (time.quality != Quality::absent) json["kinds"][kind] = json_of(time);
    return json;
}

bool knows_kind(const FactorFile& file, const std::string& kind) {
    return file.cores.count(kind) > 0 ||
           std::ranges::any_of(file.tasks, [&](const KnownTask& task) { return task.kinds.contains(kind); });
}

void keep_surer(std::map<std::string, KnownTime>& kinds, const std::map<std::string, KnownTime>& before) {
    for (const auto& [kind, time] : before) {
        const auto [own, is_new] = kinds.try_emplace(kind, time);
        if (!is_new && own->second.quality < time.quality) own->second = time;
    }
}

}  // namespace

const KnownTask* FactorFile::find(std::string_view name) const {
    const auto found = std::ranges::find(tasks, name, &KnownTask::name);
    return found == tasks.end() ? nullptr : &*found;
}

FactorFile parse_factor_file(std::string_view text, std::string_view source) {
    return as_bridge_error([&] {
        const Json json = parse_json(text, source);
        return file_at(JsonLocation(json, std::string(source)));
    });
}

FactorFile read_factor_file(const std::filesystem::path& path) {
    return as_bridge_error([&] {
        const Json json = read_json(path);
        return file_at(JsonLocation(json, path.string()));
    });
}

std::string to_json(const FactorFile& file) {
    Json json{{"version", kVersion}, {"unit", "us"}};
    if (!file.machine.empty()) json["machine"] = file.machine;
    if (!file.written.empty()) json["written"] = file.written;
    json["cores"] = Json::object();
    for (const auto& [kind, count] : file.cores.kinds())
        if (count > 0) json["cores"][kind] = count;
    json["known_tasks"] = Json::array();
    for (const KnownTask& task : file.tasks) json["known_tasks"].push_back(json_of(task));
    return as_bridge_error([&] { return to_file_text(json); });
}

void write_factor_file(const FactorFile& file, const std::filesystem::path& path) {
    const std::string text = to_json(file);
    static_cast<void>(parse_factor_file(text, path.string()));  // what would be refused is not written
    as_bridge_error([&] { replace_text(path, text); });
}

void check_kinds(const FactorFile& file, const Platform& run, std::string_view source) {
    for (const auto& [kind, count] : run.kinds())
        if (count > 0 && !knows_kind(file, kind))
            throw BridgeError(fmt::format(
                "{}: was learned on {}, and knows nothing of kind '{}' of {}; learn it here, into "
                "another file",
                source, to_string(file.cores), kind, to_string(run)));
}

FactorFile remembered(const FactorFile& before, FactorFile run) {
    for (const auto& [kind, count] : before.cores.kinds())
        if (run.cores.count(kind) == 0) run.cores.set(kind, count);
    for (const KnownTask& task : before.tasks) {
        const auto own = std::ranges::find(run.tasks, task.name, &KnownTask::name);
        if (own == run.tasks.end())
            run.tasks.push_back(task);
        else
            keep_surer(own->kinds, task.kinds);
    }
    return run;
}

}  // namespace tidemill::bridge
