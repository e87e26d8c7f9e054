#include "tidemill/steer/journal.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/base/json_error.hpp"
#include "tidemill/base/json_location.hpp"
#include "tidemill/base/text_file.hpp"
#include "tidemill/steer/steer_error.hpp"

namespace tidemill::steer {

namespace {

constexpr std::uint64_t kVersion = 1;
constexpr int kMostProcesses = 1 << 22;  // PID_MAX_LIMIT of proc(5)

template <class Do>
auto as_steer_error(Do act) {
    try {
        return act();
    } catch (const JsonError& error) {
        throw SteerError(error.what());
    }
}

CpuSet set_at(const JsonLocation& place) {
    const auto set = parse_cpu_set(place.text());
    if (!set || set->empty())
        place.fail(fmt::format("'{}' is no set of processors; expected one like 0-3,8", place.text()));
    return *set;
}

SteeredThread thread_at(const JsonLocation& place) {
    const JsonObject object(
        place, {"process", "thread", "start_ticks", "session", "name", "before", "sets", "since_ticks"});
    SteeredThread thread{.process = object.at("process").integer(1, kMostProcesses),
                         .thread = object.at("thread").integer(1, kMostProcesses),
                         .start_ticks = object.at("start_ticks").count(),
                         .session = object.at("session").integer(0, kMostProcesses),
                         .name = object.at("name").text(),
                         .before = set_at(object.at("before"))};
    for (const JsonLocation& set : object.at("sets").elements()) thread.sets.push_back(set_at(set));
    thread.since_ticks = object.at("since_ticks").count();
    return thread;
}

Journal journal_at(const JsonLocation& place) {
    const JsonObject object(place, {"version", "boot_id", "threads"});
    if (const std::uint64_t version = object.at("version").count(); version != kVersion)
        object.at("version").fail(
            fmt::format("version {} is another program's, this one reads version {}; have that one restore "
                        "what it steered, "
                        "or remove the file",
                        version, kVersion));
    Journal journal{.boot_id = object.at("boot_id").text()};
    for (const JsonLocation& thread : object.at("threads").elements())
        journal.threads.push_back(thread_at(thread));
    return journal;
}

Json json_of(const SteeredThread& thread) {
    Json json{{"process", thread.process}, {"thread", thread.thread}, {"start_ticks", thread.start_ticks},
              {"session", thread.session}, {"name", thread.name},     {"before", to_text(thread.before)},
              {"sets", Json::array()}};
    for (const CpuSet& set : thread.sets) json["sets"].push_back(to_text(set));
    json["since_ticks"] = thread.since_ticks;
    return json;
}

}  // namespace

Journal parse_journal(std::string_view text, std::string_view source) {
    return as_steer_error([&] {
        const Json json = parse_json(text, source);
        return journal_at(JsonLocation(json, std::string(source)));
    });
}

Journal read_journal(const std::filesystem::path& path) {
    std::error_code none;
    if (!std::filesystem::exists(path, none)) return {};
    return as_steer_error([&] {
        const Json json = read_json(path);
        return journal_at(JsonLocation(json, path.string()));
    });
}

std::string to_json(const Journal& journal) {
    Json json{{"version", kVersion}, {"boot_id", journal.boot_id}, {"threads", Json::array()}};
    for (const SteeredThread& thread : journal.threads) json["threads"].push_back(json_of(thread));
    return as_steer_error([&] { return to_file_text(json); });
}

void write_journal(const Journal& journal, const std::filesystem::path& path) {
    const std::string text = to_json(journal);
    as_steer_error([&] { replace_text(path, text); });
}

}  // namespace tidemill::steer
