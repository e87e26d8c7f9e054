#include "tidemill/apps/reception/observed_gap.hpp"

#include <algorithm>

#include <doctest/doctest.h>

namespace tidemill::cli {
namespace {

constexpr GapTimes kTimes{.sample_rate_hz = 2e6};
constexpr double kFrame = 16740;  // samples

// Two million samples a second, of which at 1 s an estimated 100,000 were lost; frames lie around that.
const std::vector<io::SampleGap> kEstimated{{.at = 2'000'000, .samples = 100'000, .estimated = 100'000}};

dvbs2::GapByFrames between(double before_s, double behind_s, double samples) {
    return {.before_s = before_s, .behind_s = behind_s, .samples = samples, .frame_samples = kFrame};
}

ObservedGap only_gap(const std::vector<io::SampleGap>& gaps, const std::vector<dvbs2::GapByFrames>& frames,
                     const GapTimes& times = kTimes) {
    dvbs2::MissingSamples missing;
    std::ranges::copy(frames, missing.latest.begin());
    const auto seen = observed_gaps(gaps, missing, times);
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].at_s == doctest::Approx(1));
    return seen[0];
}

}  // namespace

TEST_CASE("gap seen: what frames show puts an estimate right, whether it was too low or too high") {
    const ObservedGap more = only_gap(kEstimated, {between(0.99, 1.06, 1234)});
    CHECK(more.samples == 101'234);
    CHECK(more.by == GapMeasure::wall_and_frames);
    CHECK(name(more.by) == "clock on the wall and frames");
    const ObservedGap less = only_gap(kEstimated, {between(0.5, 0.6, 9), between(0.99, 1.06, kFrame - 1234)});
    CHECK(less.samples == 98'766);
}

TEST_CASE("gap seen: a clock in the stream tells how many frames the estimate is off by besides") {
    dvbs2::GapByFrames frames = between(0.99, 1.06, 1234);
    frames.frames_known = 1;
    for (const int whole : {-1, 0, 3}) {
        CAPTURE(whole);
        frames.frames = whole;
        const ObservedGap seen = only_gap(kEstimated, {frames});
        CHECK(seen.samples == static_cast<std::uint64_t>(101'234 + whole * kFrame));
        CHECK(seen.by == GapMeasure::frames_and_clock);
    }
    frames.frames = -7;  // more than was lost
    CHECK(only_gap(kEstimated, {frames}).by == GapMeasure::wall);
}

TEST_CASE("gap seen: without frames on both sides the estimate stays what it is") {
    for (const auto& frames : {between(0.9, 0.95, 1234), between(1.01, 1.1, 1234), between(0.99, 1.03, 1234),
                               dvbs2::GapByFrames{}}) {
        const ObservedGap seen = only_gap(kEstimated, {frames});
        CHECK(seen.samples == 100'000);
        CHECK(seen.by == GapMeasure::wall);
        CHECK(name(seen.by) == "clock on the wall");
    }
}

TEST_CASE("gap seen: what the input has counted itself is not touched") {
    const ObservedGap seen = only_gap({{.at = 2'000'000, .samples = 100'000}}, {between(0.99, 1.06, 1234)});
    CHECK(seen.samples == 100'000);
    CHECK(seen.by == GapMeasure::input);
}

TEST_CASE("gap seen: of two estimates between the same frames neither is put right, nor one over a second") {
    dvbs2::MissingSamples missing;
    missing.latest[0] = between(0.99, 1.06, 1234);
    const std::vector<io::SampleGap> two{{2'000'000, 10'000, 10'000}, {2'020'000, 10'000, 10'000}};
    for (const ObservedGap& seen : observed_gaps(two, missing, kTimes)) CHECK(seen.by == GapMeasure::wall);
    CHECK(only_gap({{2'000'000, 2'000'000, 2'000'000}}, {between(0.99, 2.1, 1234)}).by == GapMeasure::wall);
}

TEST_CASE("gap seen: the receiver's time begins behind what was skipped") {
    const GapTimes times{.sample_rate_hz = 2e6, .skipped = 1'000'000};
    CHECK(only_gap(kEstimated, {between(0.99, 1.06, 1234)}, times).by == GapMeasure::wall);
    CHECK(only_gap(kEstimated, {between(0.49, 0.56, 1234)}, times).samples == 101'234);
}

}  // namespace tidemill::cli
