#include "tidemill/scheduling/static/schedule_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "tidemill/scheduling/static/internal/from_json.hpp"

namespace tidemill {
namespace {

constexpr int kScheduleVersion = 1;
constexpr int kMaxNumber =
    1'000'000;  // of tasks, threads, core numbers: beyond any machine, far from overflow

struct KindName {
    std::string_view ours;
    std::string_view in_files;
};

constexpr std::array<KindName, 2> kKindNames{{{"big", "p-core"}, {"little", "e-core"}}};

std::string kind_from_file(const std::string& name) {
    for (const auto& kind : kKindNames)
        if (name == kind.in_files) return std::string(kind.ours);
    return name;
}

std::string kind_to_file(const std::string& name) {
    for (const auto& kind : kKindNames)
        if (name == kind.ours) return std::string(kind.in_files);
    return name;
}

std::optional<int> parse_number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0 || number > kMaxNumber)
        return std::nullopt;
    return number;
}

// "PU3", "PU0-7", "core2", "core0-5"
std::optional<NodeRange> parse_range(std::string_view text) {
    const bool pu = text.starts_with("PU");
    if (!pu && !text.starts_with("core")) return std::nullopt;
    const std::string_view numbers = text.substr(pu ? 2 : 4);
    const auto dash = numbers.find('-');
    const auto first = parse_number(numbers.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(numbers.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    return NodeRange{pu ? NodeRange::Unit::kPu : NodeRange::Unit::kCore, *first, *last};
}

NodeRange parse_node(const JsonLocation& place) {
    if (!place.value().get_if<std::string>()) {
        const int pu = place.integer(0, kMaxNumber);
        return {NodeRange::Unit::kPu, pu, pu};
    }
    const auto range = parse_range(place.text());
    if (!range)
        place.fail(fmt::format("expected \"PU3\", \"PU0-7\", \"core2\", \"core0-5\" or a number, found {}",
                               place.text()));
    return *range;
}

CoreResource parse_resource(const std::string& name, const JsonLocation& place) {
    const JsonObject object(place, {"node-list", "smt", "cluster-size"});
    CoreResource resource{kind_from_file(name), {}, 1, {}};
    if (object.has("node-list"))
        for (const auto& node : object.at("node-list").elements()) resource.nodes.push_back(parse_node(node));
    if (object.has("smt")) resource.smt = object.at("smt").integer(1, kMaxNumber);
    if (object.has("cluster-size")) resource.cluster_size = object.at("cluster-size").integer(1, kMaxNumber);
    return resource;
}

Pinning parse_policy(const JsonLocation& place) {
    const auto policy = parse_pinning(place.text());
    if (!policy)
        place.fail(fmt::format("expected packed, guided, distant or loose, found '{}'", place.text()));
    return *policy;
}

WaitMode parse_waiting_type(const JsonLocation& place) {
    const auto waiting = parse_waiting(place.text());
    if (!waiting) place.fail(fmt::format("expected active, passive or mixed, found '{}'", place.text()));
    return *waiting;
}

void parse_ring(const JsonObject& object, Stage& stage) {
    if (object.has("sync_buff_size"))
        stage.sync_buff_size = object.at("sync_buff_size").integer(1, kMaxNumber);
    if (object.has("sync_waiting_type")) stage.waiting = parse_waiting_type(object.at("sync_waiting_type"));
}

void parse_task_names(const JsonLocation& place, const Stage& stage, std::vector<std::string>& names) {
    const auto elements = place.elements();
    if (elements.size() != stage.task_count)
        place.fail(
            fmt::format("{} names, expected {} (the stage's tasks)", elements.size(), stage.task_count));
    for (const auto& name : elements) names.push_back(name.text());
}

// Totals of the stages so far: counting them again for each would take the square of their number.
struct Totals {
    std::size_t tasks = 0;
    int threads = 0;
    std::set<std::string> kinds{};
};

// Letters name kinds as files do.
CyclicWord parse_word_at(const JsonLocation& place) {
    std::vector<std::string> letters;
    for (const auto& letter : place.elements()) letters.push_back(letter.text());
    try {
        CyclicWord word = parse_word(letters);
        for (std::string& kind : word.kinds) kind = kind_from_file(kind);
        return word;
    } catch (const ScheduleError& error) {
        place.fail(error.what());
    }
}

void parse_cores(const JsonObject& object, const JsonLocation& place, Stage& stage) {
    if (!object.has("word")) {
        stage.core_kind = kind_from_file(object.at("core-type").text());
        return;
    }
    for (const char* other : {"core-type", "shares-core", "batch"})
        if (object.has(other))
            place.fail(
                fmt::format("a stage with a word has no {}: its letters name the kinds of whole cores; "
                            "remove one of the two",
                            other));
    stage.word = parse_word_at(object.at("word"));
    if (stage.word->kinds.size() != static_cast<std::size_t>(stage.threads))
        place.fail(fmt::format("{} threads, expected {} (the different letters of its word)", stage.threads,
                               stage.word->kinds.size()));
}

void parse_owners(const JsonLocation& place, Stage& stage) {
    for (const auto& number : place.elements()) stage.owners.push_back(number.integer(1, kMaxNumber));
    if (stage.owners.size() != static_cast<std::size_t>(stage.threads))
        place.fail(
            fmt::format("{} numbers, expected {} (one for each thread)", stage.owners.size(), stage.threads));
}

void append_stage(Schedule& schedule, Totals& totals, const JsonLocation& place) {
    const JsonObject object(
        place, {"tasks", "threads", "core-type", "pinning-policy", "sync_buff_size", "sync_waiting_type",
                "task-names", "shares-core", "batch", "word", "owners"});
    Stage stage;
    stage.first_task = totals.tasks;
    stage.task_count = static_cast<std::size_t>(object.at("tasks").integer(1, kMaxNumber));
    stage.threads = object.at("threads").integer(1, kMaxNumber);
    totals.tasks += stage.task_count;
    if (totals.threads > kMaxNumber - stage.threads)
        place.fail(fmt::format("more than {} threads in all stages", kMaxNumber));
    totals.threads += stage.threads;
    parse_cores(object, place, stage);
    for (const CoreCount& kind : stage.cores()) totals.kinds.insert(kind.kind);
    if (totals.kinds.size() > internal::kMaxKinds)
        place.fail(fmt::format("more than {} core kinds in all stages", internal::kMaxKinds));
    if (object.has("pinning-policy")) stage.pinning = parse_policy(object.at("pinning-policy"));
    if (object.has("batch")) stage.batch = object.at("batch").integer(1, kMaxNumber);
    if (object.has("shares-core")) stage.shares_core = object.at("shares-core").flag();
    if (object.has("owners")) parse_owners(object.at("owners"), stage);
    parse_ring(object, stage);
    if (object.has("task-names")) parse_task_names(object.at("task-names"), stage, schedule.task_names);
    schedule.stages.push_back(std::move(stage));
}

void parse_stages(Schedule& schedule, const JsonLocation& place) {
    Totals totals;
    for (const auto& stage : place.elements()) append_stage(schedule, totals, stage);
    if (schedule.stages.empty()) place.fail("no stages; expected at least one");
    if (!schedule.task_names.empty() && schedule.task_names.size() != totals.tasks)
        place.fail(fmt::format("task-names for {} of {} tasks; give them in all stages or in none",
                               schedule.task_names.size(), totals.tasks));
    try {
        check_owners(schedule);
    } catch (const ScheduleError& error) {
        place.fail(error.what());
    }
    const Stage& last = schedule.stages.back();
    if (last.sync_buff_size || last.waiting)
        place.fail("the last stage has no ring after it; remove its sync_buff_size and sync_waiting_type");
}

Json resource_json(const CoreResource& resource) {
    Json json{{"node-list", Json::array()}, {"smt", resource.smt}};
    for (const auto& range : resource.nodes) json["node-list"].push_back(to_string(range));
    if (resource.cluster_size) json["cluster-size"] = *resource.cluster_size;
    return json;
}

Json word_json(CyclicWord word) {
    for (std::string& kind : word.kinds) kind = kind_to_file(kind);
    Json json = Json::array();
    for (const std::string& letter : letter_names(word)) json.push_back(letter);
    return json;
}

Json stage_json(const Stage& stage, const std::vector<std::string>& task_names) {
    Json json{{"tasks", stage.task_count}, {"threads", stage.threads}};
    if (stage.word)
        json["word"] = word_json(*stage.word);
    else
        json["core-type"] = kind_to_file(stage.core_kind);
    json["pinning-policy"] = to_string(stage.pinning);
    if (stage.shares_core) json["shares-core"] = true;
    if (stage.batch) json["batch"] = *stage.batch;
    for (const int owner : stage.owners) json["owners"].push_back(owner);
    if (stage.sync_buff_size) json["sync_buff_size"] = *stage.sync_buff_size;
    if (stage.waiting) json["sync_waiting_type"] = to_string(*stage.waiting);
    if (!task_names.empty())
        for (std::size_t i = 0; i < stage.task_count; ++i)
            json["task-names"].push_back(task_names.at(stage.first_task + i));
    return json;
}

double parse_period(const JsonLocation& place) {
    const double us = place.number();
    if (us < 0) place.fail(fmt::format("{} us; expected at least 0", us));
    return us;
}

Schedule schedule_at(const JsonLocation& place) {
    const JsonObject object(place,
                            {"version", "made-by", "period-us", "frames-in-flight", "resources", "schedule"});
    if (object.has("version")) object.at("version").integer(kScheduleVersion, kScheduleVersion);
    Schedule schedule;
    if (object.has("made-by")) schedule.made_by = object.at("made-by").text();
    if (object.has("period-us")) schedule.period_us = parse_period(object.at("period-us"));
    if (object.has("frames-in-flight"))
        schedule.frames_in_flight = object.at("frames-in-flight").integer(1, kMaxNumber);
    if (object.has("resources"))
        for (const auto& [name, resource] : internal::members_by_kind(object.at("resources")))
            schedule.resources.push_back(parse_resource(name, resource));
    parse_stages(schedule, object.at("schedule"));
    return schedule;
}

// A number alone is a PU's, as in node lists.
NodeRange node_of_kind(std::string_view entry) {
    const auto range = parse_range(entry);
    const auto pus = range ? range : parse_range(fmt::format("PU{}", entry));
    if (pus) return *pus;
    throw ScheduleError(
        fmt::format("kinds of cores: '{}' names no cores; write for instance \"big=0-3,little=4-7\"", entry));
}

}  // namespace

std::vector<CoreResource> parse_core_kinds(std::string_view text) {
    std::vector<CoreResource> resources;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        std::string_view entry = text.substr(from, comma - from);
        from = comma + 1;
        if (const auto equals = entry.find('='); equals != std::string_view::npos) {
            const std::string kind(entry.substr(0, equals));
            if (std::ranges::find(resources, kind, &CoreResource::kind) != resources.end())
                throw ScheduleError(fmt::format("kinds of cores: '{}' is given twice; name it once", kind));
            resources.push_back({kind, {}, 1, {}});
            entry.remove_prefix(equals + 1);
        }
        const NodeRange node = node_of_kind(entry);
        if (resources.empty() || resources.back().kind.empty())
            throw ScheduleError(fmt::format(
                "kinds of cores: '{}' has no kind; write for instance \"big=0-3,little=4-7\"", entry));
        resources.back().nodes.push_back(node);
    }
    return resources;
}

Schedule parse_schedule(std::string_view text, std::string_view source) {
    return internal::from_json_text(text, source, schedule_at);
}

Schedule read_schedule(const std::filesystem::path& path) {
    return internal::from_json_file(path, schedule_at);
}

std::string to_json(const Schedule& schedule) {
    Json json{{"version", kScheduleVersion}};
    if (!schedule.made_by.empty()) json["made-by"] = schedule.made_by;
    if (schedule.period_us) json["period-us"] = *schedule.period_us;
    if (schedule.frames_in_flight) json["frames-in-flight"] = *schedule.frames_in_flight;
    // StreamPU wants both, even empty.
    for (const auto& kind : kKindNames)
        json["resources"][std::string(kind.in_files)] = resource_json({std::string(kind.ours), {}, 1, {}});
    for (const auto& resource : schedule.resources)
        json["resources"][kind_to_file(resource.kind)] = resource_json(resource);
    json["schedule"] = Json::array();
    for (const auto& stage : schedule.stages)
        json["schedule"].push_back(stage_json(stage, schedule.task_names));
    return internal::file_text(json);
}

void write_schedule(const Schedule& schedule, const std::filesystem::path& path) {
    internal::write_file(path, to_json(schedule));
}

}  // namespace tidemill
