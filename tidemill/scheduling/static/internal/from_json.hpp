#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/base/json_error.hpp"
#include "tidemill/base/json_location.hpp"
#include "tidemill/base/text_file.hpp"
#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill::internal {

/// Result of `act`; an error in a file or a text of JSON becomes one of this folder.
template <typename Act>
auto as_schedule_error(Act act) {
    try {
        return act();
    } catch (const JsonError& error) {
        throw ScheduleError(error.what());
    }
}

/// Result of `read` for a JSON text.
template <typename Read>
auto from_json_text(std::string_view text, std::string_view source, Read read) {
    return as_schedule_error([&] {
        const Json json = parse_json(text, source);
        return read(JsonLocation(json, std::string(source)));
    });
}

/// Result of `read` for a JSON file.
template <typename Read>
auto from_json_file(const std::filesystem::path& path, Read read) {
    return as_schedule_error([&] {
        const Json json = read_json(path);
        return read(JsonLocation(json, path.string()));
    });
}

/// The members of an object that has one for each core kind.
inline auto members_by_kind(const JsonLocation& place) {
    auto members = place.members();
    if (members.size() > internal::kMaxKinds)
        place.fail(fmt::format("{} core kinds; at most {} are known", members.size(), internal::kMaxKinds));
    return members;
}

/// The text of a file that is read again.
inline std::string file_text(const Json& json) {
    return as_schedule_error([&] { return to_file_text(json); });
}

/// Replaces a file; throws ScheduleError when not every byte got there.
inline void write_file(const std::filesystem::path& path, const std::string& text) {
    as_schedule_error([&] { write_text(path, text); });
}

}  // namespace tidemill::internal
