#pragma once

#include <vector>

#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/report/report.hpp"

namespace tidemill {

/// Bytes that a cut behind each unit would move from core to core, per source frame of the run in order that
/// `report` covers. Every socket counts once, however many tasks behind the cut read it, and whole, however
/// much of it a frame uses. Nothing crosses behind the last unit.
std::vector<double> cut_bytes(const Graph& graph, const Structure& structure, const RunReport& report);

}  // namespace tidemill
