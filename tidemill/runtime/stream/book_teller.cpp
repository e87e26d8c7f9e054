#include "tidemill/runtime/stream/book_teller.hpp"

#include <fmt/format.h>

namespace tidemill {

void BookTeller::tell(const KnobSettings& settings, std::uint64_t frame, Tell when) {
    if (in_flight_ == kEndless) {
        throw GraphError(
            "any number of frames may be in flight where all stages in front have several threads: give one "
            "of them one thread, or do not set knobs");
    }
    if (when.after < in_flight_) {
        throw GraphError(
            fmt::format("a knob is set {} frames ahead, but {} may be in flight: set it at least so "
                        "far ahead, or let fewer be in flight",
                        when.after, in_flight_));
    }
    const std::uint64_t source_frame = numbers_.frame_of(frame);
    if (when.after >= kEndless - source_frame) throw GraphError("a knob is set for a frame that never comes");
    book_.tell(settings, source_frame, source_frame + when.after);
}

}  // namespace tidemill
