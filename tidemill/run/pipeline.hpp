#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tidemill/graph/graph.hpp"
#include "tidemill/platform/topology.hpp"
#include "tidemill/run/checkpoint/checkpoint.hpp"
#include "tidemill/run/report.hpp"
#include "tidemill/run/run_options.hpp"
#include "tidemill/run/waiting.hpp"
#include "tidemill/schedule/schedule.hpp"

namespace tidemill {

class Engine;
class TokenMemory;
struct Structure;

/// What a pipeline does where its schedule does not say.
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
class Pipeline {
  public:
    /// Throws GraphError when the graph is faulty, ScheduleError when the schedule is not for it, and
    /// PlatformError when it wants cores that are not there.
    Pipeline(Graph& graph, const Schedule& schedule, const PipelineOptions& options = {});
    ~Pipeline();

    /// Runs until the source stops, or as the options say; throws FrameError when a task throws.
    RunReport run(const RunOptions& options = {});

    /// Runs on where the last run ended, on the same threads; frame numbers go on, too.
    RunReport resume(const RunOptions& options = {});

    /// Changes the schedule, also while another thread is in run(): no frame is lost, doubled or out of
    /// order. Throws as the constructor does, and then changes nothing.
    void reschedule(const Schedule& schedule);

    /// Changes knobs, from any thread, while the stream runs or between runs: `set(amp.gain, 2.0f, fir.taps,
    /// taps)`. All change on one source frame, the next that begins, or the one of a `From{1000}` behind
    /// them; what comes of earlier frames keeps the values under which they began. Waits for no frame. Throws
    /// GraphError for a value that its knob cannot take and for a knob of another graph, RunError when the
    /// stream has ended; then nothing is changed.
    template <class T, class... Rest>
    SetAt set(const Knob<T>& knob, const std::type_identity_t<T>& value, const Rest&... rest) {
        return set(KnobSettings(knob, value, rest...));
    }
    SetAt set(const KnobSettings& settings);

    /// All that the stream needs to go on elsewhere, from any thread but those that run it: it pauses between
    /// two frames, and goes on. Throws ModuleError when a keep() throws, RunError when the run fails first.
    Checkpoint checkpoint();

    /// The graph in order, with its units and segments.
    const Structure& structure() const;

  private:
    const Graph& graph_;
    PipelineOptions options_;
    std::unique_ptr<Engine> engine_;
};

/// The schedule that needs no scheduler: every task on a thread of its own, those that may be replicated on
/// `replicas`, and the operating system decides where they run. The baseline that everyone knows (GNU Radio
/// runs its blocks like this).
Schedule thread_per_task(const Graph& graph, int replicas = 1);
Schedule thread_per_task(const Structure& structure, int replicas = 1);

}  // namespace tidemill
