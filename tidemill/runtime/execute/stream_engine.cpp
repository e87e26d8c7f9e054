#include "tidemill/runtime/execute/stream_engine.hpp"

#include <utility>

#include "tidemill/runtime/execute/end_frames.hpp"

namespace tidemill {

StreamEngine::StreamEngine(Graph& graph)
    : graph_(graph),
      structure_(structure_of(graph)),
      knobs_(KnobBook::of(graph)),
      graph_size_(graph.size()) {}

RunReport StreamEngine::resume(const RunOptions& options) {
    RunOptions rest = options;
    if (options.finish) rest.frames = 0;
    return go(rest, /*anew=*/false);
}

RunReport StreamEngine::go(const RunOptions& wanted, bool anew) {
    check(wanted);
    StreamRun stream({graph_, graph_size_, structure_, *knobs_, wishes_}, wanted, anew, [this] { halt(); });
    const RunOptions options = stream.options(wanted);
    Stretch whole = run_stretch(options, stream);
    stream.has_begun_all(whole.end == StretchEnd::by_task);
    end_stream(options, stream, whole.totals);
    stream.finish(whole.report);
    report_totals(structure_, whole.totals, whole.report);
    return std::move(whole.report);
}

void StreamEngine::end_stream(const RunOptions& options, StreamRun& stream, RunTotals& totals) {
    if (structure_.ends.empty() || !(stopped_by_ || options.finish)) return;
    stream.place().has_ended = true;
    run_end_frames(graph_, structure_, cut_at_end(), options,
                   {stream.place().next_frames, stopped_by_, *knobs_}, pool_, totals);
}

Checkpoint StreamEngine::checkpoint() {
    wishes_.gate().check_may_wait("checkpoint()");
    if (std::optional<Checkpoint> taken = wishes_.want()) return *std::move(taken);
    wishes_.gate().wait_until_over();
    return checkpoint_of(graph_);
}

bool StreamEngine::end_run() {
    wishes_.refuse();
    if (wishes_.gate().end()) return true;
    pool_.wait_for_others();
    return false;
}

}  // namespace tidemill
