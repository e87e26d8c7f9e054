#pragma once

#include "tidemill/schedule/schedule.hpp"

namespace tidemill {

class Graph;
struct Structure;

/// The schedule that needs no scheduler: every task on a thread of its own, those that may be replicated on
/// `replicas`, and the operating system decides where they run. The baseline that everyone knows (GNU Radio
/// runs its blocks like this).
Schedule thread_per_task(const Graph& graph, int replicas = 1);
Schedule thread_per_task(const Structure& structure, int replicas = 1);

}  // namespace tidemill
