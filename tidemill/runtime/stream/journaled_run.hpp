#pragma once

#include <cstdint>
#include <optional>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/runtime/stream/knob_book.hpp"

namespace tidemill {

/// Outside events of a run, as its options say: sets knobs at its beginning, replays a record, and keeps a
/// journal until it goes out of scope.
class JournaledRun {
  public:
    /// Throws GraphError for a knob that cannot be set so, and JournalError for a record of another graph.
    JournaledRun(const RunOptions& options, const Graph& graph, KnobBook& knobs, std::uint64_t first_frame);
    ~JournaledRun();
    JournaledRun(const JournaledRun&) = delete;
    JournaledRun& operator=(const JournaledRun&) = delete;

    /// Source frames, at most.
    std::uint64_t frames() const { return frames_; }
    /// Whether the stream ends with the run, as the options or the record say.
    bool finishes() const { return finishes_; }

    /// The run is over; `next_frame` would come next. Throws RunError when the journal could not be written.
    void end(std::uint64_t next_frame, bool by_a_task);

  private:
    void replay(const JournalRecord& record, const Graph& graph, std::uint64_t first_frame);

    Journal* journal_;
    KnobBook& knobs_;
    std::uint64_t frames_;
    bool finishes_;
    bool ended_ = false;
};

/// The settings of a record for this graph, in their order; throws JournalError where it is of another graph,
/// and GraphError for values that its knobs cannot take.
std::vector<KnobSettings> settings_of(const JournalRecord& record, const Graph& graph,
                                      const KnobLayout& knobs);

}  // namespace tidemill
