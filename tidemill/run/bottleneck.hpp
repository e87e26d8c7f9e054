#pragma once

#include <string>

#include "tidemill/run/report.hpp"

namespace tidemill {

/// One sentence: which stage limits the speed of a run, which of its units is to blame, and what would help.
/// Says so when no stage does, because all of them wait, and when no times were taken.
std::string bottleneck(const RunReport& report);

}  // namespace tidemill
