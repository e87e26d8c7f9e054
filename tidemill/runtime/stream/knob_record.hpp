#pragma once

#include "tidemill/base/json_location.hpp"
#include "tidemill/runtime/graph/knob.hpp"
#include "tidemill/runtime/graph/knob_layout.hpp"
#include "tidemill/runtime/stream/journal.hpp"

namespace tidemill {

/// New values of knobs as a file names them, at `settings.from`; and the way back, which throws GraphError
/// for what no knob of the graph can take.
JournalRecord::Setting record_of(const KnobSettings& settings);
KnobSettings settings_of(const JournalRecord::Setting& setting, const Graph& graph, const KnobLayout& knobs);

/// {"module.knob": number or list of numbers, ...}; reading throws JsonError for anything else.
Json values_json(const JournalRecord::Setting& setting);
JournalRecord::Setting read_values(const JsonLocation& values, std::uint64_t frame);

}  // namespace tidemill
