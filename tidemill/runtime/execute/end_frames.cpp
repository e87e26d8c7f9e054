#include "tidemill/runtime/execute/end_frames.hpp"

#include <fmt/format.h>

#include "tidemill/runtime/execute/crew.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

void begin_stream(internal::StreamPosition& place, const Graph& graph, std::size_t branches, bool anew) {
    if (anew || place.next_frames.empty()) place = {std::vector<std::uint64_t>(branches, 0), false};
    if (place.has_ended) {
        throw RunError(fmt::format(
            "the stream of graph '{}' has ended, and its tasks have seen it: begin a new one with run()",
            graph.name()));
    }
    if (place.next_frames.size() != branches) {
        throw RunError(
            fmt::format("graph '{}' has grown since it ran: begin a new stream with run()", graph.name()));
    }
}

void run_end_frames(Graph& graph, const Structure& structure, const EngineCut& cut, const RunOptions& options,
                    EndedStream stream, ThreadPool& pool, RunTotals& totals) {
    stream.knobs.end();
    // The values under which the frame would have begun before which the stream ends.
    KnobTable knobs(stream.stopped_by ? stream.stopped_by->knobs
                                      : stream.knobs.values_at(stream.next_frames[0]));
    for (const EndOfStream& end : structure.ends) {
        if (stream.stopped_by && !end.follows[stream.stopped_by->step]) continue;
        Crew crew(graph, structure, cut, options, stream.next_frames, kEndless, stream.knobs, &end, &knobs);
        crew.run(pool);
        crew.merge_clones();
        crew.state().rethrow();
        stream.next_frames = crew.next_frames();
        crew.add_to(totals);
        const std::optional<StreamStop> stopped_by = crew.stopped_by();
        if (stopped_by && stopped_by->step != end.step) stream.stopped_by = stopped_by;
    }
}

}  // namespace tidemill
