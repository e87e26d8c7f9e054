#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemill::steer {

/// PUs by the operating system's numbers, ascending, each once.
using CpuSet = std::vector<int>;

/// The system's spelling of a set, "0-3,8", with or without a line's end; nothing for anything else, and for
/// numbers of 65536 and more, which no system has.
std::optional<CpuSet> parse_cpu_set(std::string_view text);

/// "0-3,8"; "" for none.
std::string to_text(const CpuSet& set);

CpuSet both(const CpuSet& one, const CpuSet& other);

/// Whether all of `part` is in `whole`.
bool is_within(const CpuSet& part, const CpuSet& whole);

}  // namespace tidemill::steer
