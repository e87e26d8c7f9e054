#include "tidemill/runtime/execute/stream_run.hpp"

#include <utility>

#include "tidemill/runtime/execute/end_frames.hpp"
#include "tidemill/runtime/graph/lost_marks.hpp"
#include "tidemill/runtime/stream/stream_state.hpp"

namespace tidemill {

namespace {

bool goes_on(const internal::StreamPosition& place) {
    return place.next_frames.front() > 0;
}

std::vector<std::uint64_t> numbers_of(const FrameNumbers& numbers, std::vector<std::uint64_t> frames) {
    for (std::uint64_t& frame : frames) frame = numbers.of(frame);
    return frames;
}

}  // namespace

internal::StreamPosition* StreamRun::begun(const Of& of, Graph::Running& running, const RunOptions& options,
                                           bool anew) {
    internal::StreamPosition& place = running.place();
    of.graph.lost_marks()->take();
    if (options.restore) {
        restore_stream(*options.restore, of.graph, place, of.knobs);
    } else if (anew) {
        of.knobs.restart();
    }
    begin_stream(place, of.graph, of.structure.segments, anew && !options.restore);
    return &place;
}

StreamRun::StreamRun(const Of& of, const RunOptions& options, bool anew, std::function<void()> pause)
    : of_(of),
      callbacks_(options),
      wishes_(of.wishes, std::move(pause), [this] { callbacks_.end(); }),
      token_(callbacks_.stop()),
      running_(of.graph, of.graph_size),
      place_(begun(of, running_, options, anew)),
      lives_(of.graph, of.structure, numbers_of(options.numbers, place_->next_frames), goes_on(*place_)),
      journaled_(options, of.graph, of.knobs, place_->next_frames.front()),
      observed_(options.observers),
      energy_(options.energy_meter),
      file_(options.checkpoint) {
    if (file_) file_->follow([&wishes = of_.wishes] { return wishes.want(); });
}

StreamRun::~StreamRun() {
    if (!file_) return;
    wishes_.close([]() -> Checkpoint { throw RunError("the run has failed"); });
    file_->give_up();
}

Checkpoint StreamRun::kept() const {
    return kept_stream(of_.graph, *place_, of_.knobs);
}

void StreamRun::pause() {
    of_.wishes.grant([this] { return kept(); });
}

void StreamRun::finish(RunReport& report) {
    wishes_.close([this] { return kept(); });
    if (CheckpointFile* const file = std::exchange(file_, nullptr)) file->finish(kept());
    lives_.end();
    callbacks_.rethrow();
    report.lost_marks = of_.graph.lost_marks()->take();
    report.elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    report.energy = energy_.stop();
    observed_.end();
}

}  // namespace tidemill
