#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "tidemill/machine/counters.hpp"

namespace tidemill::internal {

/// The kernel's counters. Throws PlatformError, saying why, where there are none or the calling thread may
/// not have its own.
std::unique_ptr<Counters> perf_counters(const CounterSystem& system);

/// Recorded readings. Throws PlatformError naming `source` and the line where the text is no replay.
FoundCounters counter_replay(std::istream& text, const std::string& source);

}  // namespace tidemill::internal
