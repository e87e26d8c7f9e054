#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "tidemill/machine/energy_watch.hpp"
#include "tidemill/runtime/execute/guarded_callbacks.hpp"
#include "tidemill/runtime/execute/module_lifecycle.hpp"
#include "tidemill/runtime/execute/observed_run.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/runtime/stream/checkpoint_requests.hpp"
#include "tidemill/runtime/stream/journaled_run.hpp"
#include "tidemill/runtime/stream/knob_book.hpp"
#include "tidemill/runtime/stream/run_on_this_thread.hpp"

namespace tidemill {

/// The common part of all runs: the graph belongs to one executor, its stream begins or goes on where it
/// stands, modules begin, knobs and journal are ready, time and energy are measured.
class StreamRun {
  public:
    /// An executor's view of its graph.
    struct Of {
        Graph& graph;
        std::size_t graph_size;  ///< when the executor was made
        const Structure& structure;
        KnobBook& knobs;
        CheckpointRequests& wishes;
    };

    /// `pause` makes the run stop between two frames soon; any thread calls it. Throws GraphError when
    /// another executor runs the graph, RunError when the stream cannot go on, ModuleError, JournalError,
    /// CheckpointError.
    StreamRun(const Of& of, const RunOptions& options, bool anew, std::function<void()> pause);
    ~StreamRun();
    StreamRun(const StreamRun&) = delete;
    StreamRun& operator=(const StreamRun&) = delete;

    internal::StreamPosition& place() const { return *place_; }
    /// The wanted options with guarded callbacks, and the frames and the end of a replay.
    RunOptions options(RunOptions wanted) const {
        wanted.frames = journaled_.frames();
        wanted.finish = journaled_.finishes();
        callbacks_.put_into(wanted);
        return wanted;
    }

    /// Calls what a user gave, as a callback of the options.
    template <class Call>
    void guarded(Call&& call) {
        callbacks_.guarded(std::forward<Call>(call));
    }

    /// Runs frames, in which a pthread_cancel() of the calling thread ends the run and unwinds the thread.
    template <class Call>
    void frames_run(Call&& call) const {
        cancel_.except_in(std::forward<Call>(call));
    }

    /// No frames are in flight: takes the checkpoints that are wanted.
    void pause();
    bool should_pause() const { return of_.wishes.any(); }

    /// All frames have begun that will: the journal is whole. Throws JournalNotWritten, and what a callback
    /// threw.
    void has_begun_all(bool ended_by_a_task) {
        journaled_.end(place_->next_frames.front(), ended_by_a_task);
        callbacks_.rethrow();
    }
    /// All is done, also behind the stream's end. Throws ModuleError, CheckpointNotWritten, and what a
    /// callback threw.
    void finish(RunReport& report);

  private:
    Checkpoint kept() const;
    static internal::StreamPosition* begun(const Of& of, Graph::Running& running, const RunOptions& options,
                                           bool anew);

    Of of_;
    internal::CancelLater cancel_;
    GuardedCallbacks callbacks_;
    CheckpointRequests::Open wishes_;
    internal::RunOnThisThread token_;
    Graph::Running running_;
    internal::StreamPosition* place_;
    ModuleLifecycle lives_;
    JournaledRun journaled_;
    ObservedRun observed_;
    EnergyWatch energy_;
    CheckpointFile* file_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tidemill
