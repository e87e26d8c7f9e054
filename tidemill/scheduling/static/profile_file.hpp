#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill {

/// Reads {"tasks": [{"name", "replicable", "weight": {"big": 52, "little": 60, "gpu": null}}]}, where null is
/// a kind that the task cannot run on, and our optional keys: bytes_after, lacks_word and batches (a
/// BatchCost of each device, {"gpu": {"batch_us", ...}}) of a task, version, unit ("us"),
/// frames_per_execution, cores, measured_by, warnings. Throws ScheduleError naming `source` and the place in
/// it.
Profile parse_profile(std::string_view text, std::string_view source);

/// parse_profile() of a file.
Profile read_profile(const std::filesystem::path& path);

/// The text that parse_profile() reads back as an equal profile.
std::string to_json(const Profile& profile);

/// Writes to_json() to a file; throws ScheduleError when it cannot.
void write_profile(const Profile& profile, const std::filesystem::path& path);

}  // namespace tidemill
