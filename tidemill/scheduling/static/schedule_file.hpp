#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// Reads a schedule with StreamPU 1.8's keys (hyphens and underscores alike) and ours: version, made-by,
/// period-us, frames-in-flight, and in each stage task-names, shares-core, batch, and word in place of
/// core-type: the letters of a mixed stage, as parse_word() has them. Throws ScheduleError naming `source`
/// and the place in it, also for unknown keys.
Schedule parse_schedule(std::string_view text, std::string_view source);

/// The cores that each kind names in "big=0-3,little=4-7,core9", as a schedule's resources; the numbers are
/// those of PUs. Throws ScheduleError for anything else.
std::vector<CoreResource> parse_core_kinds(std::string_view text);

/// parse_schedule() of a file.
Schedule read_schedule(const std::filesystem::path& path);

/// The text that parse_schedule() reads back as an equal schedule, but for resources: p-core and e-core are
/// always written, empty when unknown.
std::string to_json(const Schedule& schedule);

/// Writes to_json() to a file; throws ScheduleError when it cannot.
void write_schedule(const Schedule& schedule, const std::filesystem::path& path);

}  // namespace tidemill
