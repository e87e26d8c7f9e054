#include "tidemill/apps/reception/observed_gap.hpp"

#include <algorithm>
#include <cmath>

namespace tidemill::cli {

namespace {

// Between what two frames a gap lies, with the silence that stands for it.
struct Stretch {
    double begin_s, end_s;

    bool lies_within(const dvbs2::GapByFrames& frames, double slack_s) const {
        return frames.before_s <= begin_s + slack_s && end_s - slack_s <= frames.behind_s;
    }
};

Stretch stretch_of(const io::SampleGap& gap, const GapTimes& times) {
    const double at = static_cast<double>(gap.at) - static_cast<double>(times.skipped);
    return {at / times.sample_rate_hz, (at + static_cast<double>(gap.samples)) / times.sample_rate_hz};
}

// Only a second of a longer gap is silence: the frames show what that lacks, not what the estimate does.
bool may_be_put_right(const io::SampleGap& gap, const GapTimes& times) {
    return gap.estimated > 0 && static_cast<double>(gap.samples) < times.sample_rate_hz;
}

// These report together what two gaps between the same frames lack.
bool is_told_by(const dvbs2::GapByFrames& frames, const io::SampleGap& gap,
                const std::vector<io::SampleGap>& gaps, const GapTimes& times) {
    constexpr double kSlackFrames = 0.1;  // a tuner is late by some samples
    const double slack_s = kSlackFrames * frames.frame_samples / times.sample_rate_hz;
    const auto lies_there = [&](const io::SampleGap& one) {
        return one.estimated > 0 && stretch_of(one, times).lies_within(frames, slack_s);
    };
    return frames.frame_samples > 0 && lies_there(gap) && std::ranges::count_if(gaps, lies_there) == 1;
}

// Frames that lie too early show more samples to be missing than were thought; too late, fewer.
double off_by(const dvbs2::GapByFrames& frames) {
    if (frames.frames_known != 0)
        return frames.samples + static_cast<double>(frames.frames) * frames.frame_samples;
    return frames.samples > frames.frame_samples / 2 ? frames.samples - frames.frame_samples : frames.samples;
}

ObservedGap put_right(ObservedGap seen, const dvbs2::GapByFrames& frames) {
    const double samples = static_cast<double>(seen.samples) + off_by(frames);
    if (samples < 0) return seen;
    seen.samples = static_cast<std::uint64_t>(std::llround(samples));
    seen.by = frames.frames_known != 0 ? GapMeasure::frames_and_clock : GapMeasure::wall_and_frames;
    return seen;
}

}  // namespace

std::string_view name(GapMeasure measure) {
    switch (measure) {
        case GapMeasure::input:
            return "times or counts";
        case GapMeasure::wall:
            return "clock on the wall";
        case GapMeasure::wall_and_frames:
            return "clock on the wall and frames";
        case GapMeasure::frames_and_clock:
            return "frames and the stream's clock";
    }
    return {};
}

std::vector<ObservedGap> observed_gaps(const std::vector<io::SampleGap>& gaps,
                                       const dvbs2::MissingSamples& missing, const GapTimes& times) {
    std::vector<ObservedGap> seen;
    for (const io::SampleGap& gap : gaps) {
        ObservedGap one{static_cast<double>(gap.at) / times.sample_rate_hz, gap.samples,
                        gap.estimated > 0 ? GapMeasure::wall : GapMeasure::input};
        const auto told = std::ranges::find_if(
            missing.latest, [&](const auto& frames) { return is_told_by(frames, gap, gaps, times); });
        if (may_be_put_right(gap, times) && told != missing.latest.end()) one = put_right(one, *told);
        seen.push_back(one);
    }
    return seen;
}

}  // namespace tidemill::cli
