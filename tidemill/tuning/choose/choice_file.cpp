#include "tidemill/tuning/choose/choice_file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "tidemill/base/json_error.hpp"
#include "tidemill/base/json_location.hpp"
#include "tidemill/base/text_file.hpp"
#include "tidemill/machine/describe.hpp"
#include "tidemill/runtime/graph/identity.hpp"
#include "tidemill/runtime/graph/internal/fnv.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/scheduling/static/schedule_file.hpp"
#include "tidemill/tuning/choose/version.hpp"

namespace tidemill {

namespace {

constexpr int kChoicesVersion = 1;
constexpr std::size_t kMostChoices = 100;

double time_at(const JsonLocation& place) {
    const double time_us = place.number();
    if (time_us < 0) place.fail(fmt::format("{} us; expected at least 0", time_us));
    return time_us;
}

ExecutorKind executor_at(const JsonLocation& place) {
    const std::string name = place.text();
    for (const ExecutorKind each :
         {ExecutorKind::pipeline, ExecutorKind::sequence, ExecutorKind::threads, ExecutorKind::dynamic})
        if (name == to_string(each)) return each;
    place.fail(fmt::format("executor '{}'; expected pipeline, sequence, threads or dynamic", name));
}

Choice::Way way_at(const JsonLocation& place) {
    const JsonObject object(place, {"executor", "policy", "schedule"});
    Choice::Way way{.executor = executor_at(object.at("executor"))};
    if (way.executor == ExecutorKind::dynamic) way.policy = object.at("policy").text();
    const bool has_stages = way.executor == ExecutorKind::pipeline || way.executor == ExecutorKind::threads;
    if (has_stages) way.schedule = parse_schedule(object.at("schedule").text(), "its schedule");
    return way;
}

RememberedChoice choice_at(const JsonLocation& place) {
    const JsonObject object(place,
                            {"graph", "machine", "version", "way", "tried", "bound_us", "forecast_us"});
    RememberedChoice found;
    found.key = {object.at("graph").text(), object.at("machine").text(), object.at("version").text()};
    found.choice.way = way_at(object.at("way"));
    for (const JsonLocation& tried : object.at("tried").elements()) {
        const JsonObject each(tried, {"name", "period_us", "busiest_us"});
        found.choice.tried.push_back({each.at("name").text(), time_at(each.at("period_us")),
                                      each.has("busiest_us") ? time_at(each.at("busiest_us")) : 0});
    }
    found.choice.bound_us = time_at(object.at("bound_us"));
    const std::vector<JsonLocation> forecast = object.at("forecast_us").elements();
    if (forecast.size() != 3) object.at("forecast_us").fail("expected the period, the least and the most");
    found.choice.forecast = {time_at(forecast[0]), time_at(forecast[1]), time_at(forecast[2])};
    found.choice.is_remembered = true;
    return found;
}

Json json_of(const Choice::Tried& tried) {
    Json json{{"name", tried.name}, {"period_us", tried.period_us}};
    if (tried.busiest_us > 0) json["busiest_us"] = tried.busiest_us;
    return json;
}

Json json_of(const RememberedChoice& remembered) {
    const Choice& choice = remembered.choice;
    Json way{{"executor", to_string(choice.way.executor)}};
    if (choice.way.executor == ExecutorKind::dynamic) way["policy"] = choice.way.policy;
    if (choice.way.schedule) way["schedule"] = to_json(*choice.way.schedule);
    Json tried = Json::array();
    for (const Choice::Tried& each : choice.tried) tried.push_back(json_of(each));
    const Forecast forecast = choice.forecast.value_or(Forecast());
    Json interval = Json::array();
    for (const double us : {forecast.period_us, forecast.least_us, forecast.most_us}) interval.push_back(us);
    return {{"graph", remembered.key.graph},
            {"machine", remembered.key.machine},
            {"version", remembered.key.version},
            {"way", way},
            {"tried", tried},
            {"bound_us", choice.bound_us},
            {"forecast_us", interval}};
}

std::vector<RememberedChoice> choices_at(const JsonLocation& place) {
    const JsonObject object(place, {"version", "choices"});
    object.at("version").integer(kChoicesVersion, kChoicesVersion);
    std::vector<RememberedChoice> choices;
    for (const JsonLocation& each : object.at("choices").elements()) choices.push_back(choice_at(each));
    return choices;
}

template <class Read>
auto as_run_error(Read read) {
    try {
        return read();
    } catch (const JsonError& error) {
        throw RunError(error.what());
    } catch (const ScheduleError& error) {
        throw RunError(error.what());
    }
}

// Anything else of that name, a pipe say, may keep its reader waiting.
std::vector<RememberedChoice> read_choices(const std::filesystem::path& path) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none))
        throw RunError(fmt::format("{}: is no file; choices are kept in a plain one", path.string()));
    return as_run_error([&] { return choices_at(JsonLocation(read_json(path), path.string())); });
}

// All others; none where the file is damaged, which its reader has reported.
std::vector<RememberedChoice> choices_but(const std::filesystem::path& path, const ChoiceKey& key) {
    std::error_code none;
    if (!std::filesystem::exists(path, none)) return {};
    try {
        std::vector<RememberedChoice> choices = read_choices(path);
        std::erase_if(choices, [&](const RememberedChoice& each) { return each.key == key; });
        return choices;
    } catch (const RunError&) {
        return {};
    }
}

}  // namespace

ChoiceKey choice_key(const Graph& graph, const Topology& topology, const Platform& cores) {
    internal::Fnv machine;
    machine.add(describe(topology));
    machine.add(to_string(cores));
    return {identity_of(graph), machine.text(), version()};
}

std::vector<RememberedChoice> parse_choices(std::string_view text, std::string_view source) {
    return as_run_error([&] {
        const Json json = parse_json(text, source);
        return choices_at(JsonLocation(json, std::string(source)));
    });
}

std::string to_json(const std::vector<RememberedChoice>& choices) {
    Json all = Json::array();
    for (const RememberedChoice& each : choices) all.push_back(json_of(each));
    return to_file_text(Json{{"version", kChoicesVersion}, {"choices", all}});
}

std::optional<Choice> remembered_choice(const std::filesystem::path& path, const ChoiceKey& key) {
    std::error_code none;  // a file that cannot be looked at counts as absent
    if (!std::filesystem::exists(path, none)) return std::nullopt;
    const std::vector<RememberedChoice> choices = read_choices(path);
    const auto found = std::ranges::find(choices, key, &RememberedChoice::key);
    return found == choices.end() ? std::nullopt : std::optional(found->choice);
}

void remember_choice(const std::filesystem::path& path, const RememberedChoice& choice) {
    std::vector<RememberedChoice> choices = choices_but(path, choice.key);
    if (choices.size() >= kMostChoices) choices.erase(choices.begin());
    choices.push_back(choice);
    std::error_code none;
    std::filesystem::create_directories(std::filesystem::absolute(path).parent_path(), none);
    as_run_error([&] { replace_text(path, to_json(choices)); });
}

void forget_choice(const std::filesystem::path& path, const ChoiceKey& key) {
    as_run_error([&] { replace_text(path, to_json(choices_but(path, key))); });
}

std::string usual_choice_file() {
    if (const char* const given = std::getenv("TIDEMILL_CHOICES")) return given;
    constexpr const char* kName = "tidemill/choices.json";
    if (const char* const caches = std::getenv("XDG_CACHE_HOME"); caches && *caches == '/')
        return (std::filesystem::path(caches) / kName).string();
    if (const char* const home = std::getenv("HOME"); home && *home == '/')
        return (std::filesystem::path(home) / ".cache" / kName).string();
    return "";
}

}  // namespace tidemill
