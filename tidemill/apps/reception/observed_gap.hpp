#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tidemill/dvbs2/receiver/reception_report.hpp"
#include "tidemill/io/live/gap_log.hpp"

namespace tidemill::cli {

/// By what it is known how many samples a live input has lost at a place.
enum class GapMeasure {
    input,             ///< it gave times or counts, or they were lost here
    wall,              ///< by the clock on the wall, which is not exact
    wall_and_frames,   ///< frames show it modulo a frame, and that clock how many of these
    frames_and_clock,  ///< the same, but a clock in the stream shows how many of these
};

/// In words, for people and programs.
std::string_view name(GapMeasure measure);

/// Samples of a live input that are missing at one place.
struct ObservedGap {
    double at_s = 0;  ///< of the samples, since they began to come
    std::uint64_t samples = 0;
    GapMeasure by = GapMeasure::input;
};

/// How the samples lie that the input logs.
struct GapTimes {
    double sample_rate_hz = 1;
    std::uint64_t skipped = 0;  ///< that came before those which the receiver was given
};

/// Gaps that an input has logged, corrected by what the frames show of the same samples. Silence stands for
/// what is missing, so the frames behind lie as far from where they should as the estimate is off: it is
/// right afterwards, to the sample, where it was off by less than half a frame, or where a clock in the
/// stream shows how many frames. Without frames on both sides it stays as it is.
std::vector<ObservedGap> observed_gaps(const std::vector<io::SampleGap>& gaps,
                                       const dvbs2::MissingSamples& missing, const GapTimes& times);

}  // namespace tidemill::cli
