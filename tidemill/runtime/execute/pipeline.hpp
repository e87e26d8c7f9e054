#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tidemill/base/thread_habits.hpp"
#include "tidemill/machine/topology.hpp"
#include "tidemill/runtime/execute/executor.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

class TokenMemory;
struct Structure;

/// Behaviour of a pipeline where its schedule leaves it open.
struct PipelineOptions {
    const Topology* topology = nullptr;  ///< where to pin threads; null: nowhere
    std::size_t ring_depth = 1;          ///< frames that may wait between two stages
    WaitMode waiting = WaitMode::passive;
    std::uint32_t frames = 1;     ///< that stages hand over at a time: more cost less, and wait longer
    double batch_wait_us = 2000;  ///< how long the first frame of a stage's own batch waits for the others
    std::shared_ptr<TokenMemory> memory{};  ///< for tokens that such stages take; null: the program's own
};

/// Runs a graph in stages, each on threads of its own, as a schedule says. Every frame, number and
/// byte is the same as under Sequence.
class Pipeline : public Executor {
  public:
    /// Throws GraphError when the graph is faulty, ScheduleError when the schedule is not for it, and
    /// PlatformError when it wants cores that are not there.
    Pipeline(Graph& graph, const Schedule& schedule, const PipelineOptions& options = {});

    /// Changes the schedule, also while another thread is in run(): no frame is lost, doubled or out of
    /// order. Throws as the constructor does, and then changes nothing.
    void reschedule(const Schedule& schedule);

  private:
    PipelineOptions options_;
};

/// The schedule that needs no scheduler: every task on a thread of its own, those that may be replicated on
/// `replicas`, and the operating system decides where they run. The baseline that everyone knows (GNU Radio
/// runs its blocks like this).
Schedule thread_per_task(const Graph& graph, int replicas = 1);
Schedule thread_per_task(const Structure& structure, int replicas = 1);

}  // namespace tidemill
