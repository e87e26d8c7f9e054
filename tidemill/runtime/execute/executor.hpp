#pragma once

#include <memory>
#include <type_traits>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/runtime/stream/checkpoint.hpp"

namespace tidemill {

class StreamEngine;
struct Structure;

/// Runs a graph: Sequence in order, Pipeline in stages, Dynamic task by task. Every frame, number and byte is
/// the same under each.
class Executor {
  public:
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;
    virtual ~Executor();

    /// Runs until the source stops, or as the options say; throws FrameError when a task throws. Frames are
    /// numbered from 0.
    RunReport run(const RunOptions& options = {});

    /// Runs on where the last run of the graph ended, of this or another executor, on the same threads; frame
    /// numbers go on, too. Throws RunError when a task has ended the stream.
    RunReport resume(const RunOptions& options = {});

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

    const Graph& graph() const;

    /// The graph in order, with its units and segments.
    const Structure& structure() const;

  protected:
    explicit Executor(std::unique_ptr<StreamEngine> engine);

    template <class Engine>
    Engine& engine() const {
        return static_cast<Engine&>(*engine_);
    }

  private:
    std::unique_ptr<StreamEngine> engine_;
};

}  // namespace tidemill
