#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tidemill/schedule/cost_model.hpp"

namespace tidemill {

/// Reads {"stage_us", "hop_us", "byte_us", "bytes_at_cut": [...], "kinds": {"big": {"busy_w", "idle_w",
/// "slowdown": [...], "shared_slowdown"}}}, every key optional. Throws ScheduleError naming `source` and the
/// place in it; check(CostModel, Chain) says whether the numbers make sense.
CostModel parse_cost_model(std::string_view text, std::string_view source);

/// parse_cost_model() of a file.
CostModel read_cost_model(const std::filesystem::path& path);

/// The text that parse_cost_model() reads back as an equal model.
std::string to_json(const CostModel& model);

/// Writes to_json() to a file; throws ScheduleError when it cannot.
void write_cost_model(const CostModel& model, const std::filesystem::path& path);

}  // namespace tidemill
