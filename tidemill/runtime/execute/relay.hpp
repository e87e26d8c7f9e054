#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "tidemill/runtime/execute/stretch.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/runtime/stream/checkpoint_requests.hpp"
#include "tidemill/runtime/stream/knob_book.hpp"

namespace tidemill {

/// Runs one stream by several executors, one relieving the other between two frames: those in flight are
/// finished, clones are merged, and the next frame begins under the next executor. No frame is lost, doubled
/// or out of order, and every byte is the same as under Sequence.
class Relay {
  public:
    /// The runner that comes next, and for how long.
    struct Leg {
        std::shared_ptr<StretchRunner> runner{};
        std::uint64_t frames = kEndless;     ///< source frames, at least 1
        std::vector<Observer*> observers{};  ///< of this leg only
        std::function<bool()> is_over{};     ///< asked before each source frame, by a thread that runs it
    };

    /// Result of a leg.
    struct Done {
        RunReport report{};    ///< of this leg alone
        double elapsed_s = 0;  ///< from the end of the leg before
    };

    /// Chooses the leg that comes next; asked while no frame is in flight, with the leg before, if any.
    using Next = std::function<Leg(const Done* before)>;

    /// Throws GraphError when the graph is faulty.
    explicit Relay(Graph& graph);

    /// Runs until the stream ends; throws what its executors throw. The report's tasks and latencies are of
    /// all legs, its stages and rings of the last.
    RunReport run(const RunOptions& options, const Next& next);

    /// Ends the leg that runs, from any thread: `next` is asked for another.
    void relieve();

    /// The leg before, and how many source frames have begun with it; for `next`, and behind a run.
    const Done& last() const { return done_; }
    std::uint64_t frames_so_far() const { return totals_.frames; }

    const Structure& structure() const { return structure_; }

  private:
    using Clock = std::chrono::steady_clock;

    Stretch run_leg(const Leg& leg, const RunOptions& wanted, StreamRun& stream);
    void set_running(std::shared_ptr<StretchRunner> runner);

    Graph& graph_;
    const std::size_t graph_size_;
    Structure structure_;
    std::shared_ptr<KnobBook> knobs_;
    CheckpointRequests wishes_;
    Done done_{};
    RunTotals totals_{};

    std::mutex mutex_;  // guards what follows
    std::shared_ptr<StretchRunner> running_;
};

}  // namespace tidemill
