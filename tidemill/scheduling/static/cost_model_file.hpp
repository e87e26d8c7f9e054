#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tidemill/scheduling/static/cost_model.hpp"

namespace tidemill {

/// Reads {"stage_us", "hop_us", "byte_us", "bytes_at_cut": [...], "kinds": {"big": {"busy_w", "idle_w",
/// "slowdown": [...], "shared_slowdown"}}, "core_kinds", "memory":
/// [{"device", "bytes", "policy"}, ...]}, every key optional; "core_kinds" is only seen to be a text. Throws
/// ScheduleError naming `source` and the place in it; check(CostModel, Chain) says whether the numbers make
/// sense.
CostModel parse_cost_model(std::string_view text, std::string_view source);

/// parse_cost_model() of a file.
CostModel read_cost_model(const std::filesystem::path& path);

/// Cores of each kind, by the file's "core_kinds": "big=0-3,little=4-7". Throws ScheduleError where it does
/// not say, or is no model.
std::string read_core_kinds(const std::filesystem::path& path);

/// The text that parse_cost_model() reads back as an equal model; `core_kinds` unless empty.
std::string to_json(const CostModel& model, const std::string& core_kinds = "");

/// Writes to_json() to a file; throws ScheduleError when it cannot.
void write_cost_model(const CostModel& model, const std::filesystem::path& path,
                      const std::string& core_kinds = "");

}  // namespace tidemill
