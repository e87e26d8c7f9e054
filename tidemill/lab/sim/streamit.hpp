#pragma once

#include <string_view>
#include <vector>

#include "tidemill/lab/sim/stream_program.hpp"

namespace tidemill {

/// The names of the twelve StreamIt benchmarks.
std::vector<std::string_view> streamit_names();

/// A benchmark as a stream, one of StreamIt's cost units taking `us_per_unit`. Throws std::out_of_range for a
/// name that there is not.
StreamGraph streamit_graph(std::string_view name, double us_per_unit = 1);

/// The same graph with all firings of an iteration made one, as unrolling a task type does.
StreamGraph one_firing_per_iteration(StreamGraph graph);

/// The same graph with every task type waiting for its own previous firing.
StreamGraph all_stateful(StreamGraph graph);

}  // namespace tidemill
