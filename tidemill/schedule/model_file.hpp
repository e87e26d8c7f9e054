#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tidemill/schedule/model.hpp"

namespace tidemill {

/// Reads {"stage_us", "hop_us", "byte_us", "bytes_at_cut": [...], "kinds": {"big": {"busy_w", "idle_w",
/// "slowdown": [...], "shared_slowdown"}}}, every key optional. Throws ScheduleError naming `source` and the
/// place in it; check(Model, Chain) says whether the numbers make sense.
Model parse_model(std::string_view text, std::string_view source);

/// parse_model() of a file.
Model read_model(const std::filesystem::path& path);

/// The text that parse_model() reads back as an equal model.
std::string to_json(const Model& model);

/// Writes to_json() to a file; throws ScheduleError when it cannot.
void write_model(const Model& model, const std::filesystem::path& path);

}  // namespace tidemill
