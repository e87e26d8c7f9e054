#include "tidemill/dvbs2/ber/ber_trial.hpp"

#include <cmath>
#include <stop_token>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/ber/ber_ideal.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/runtime/graph/testbench.hpp"

namespace tidemill::dvbs2 {
namespace {

const Pls kQpsk89{10, FrameSize::short_, true};

// In the middle of the waterfall: about every third frame is wrong.
BerPoint waterfall() {
    return {.pls = kQpsk89, .esn0_db = 6.05, .seed = 7};
}

BerPoint with_full_sync(double esn0_db, std::uint64_t frames) {
    BerPoint point{.pls = kQpsk89, .esn0_db = esn0_db};
    point.full_sync = FullSync{.phase_noise_deg = 3, .frames_per_burst = frames};
    return point;
}

}  // namespace

TEST_CASE("ber: the noise has the variance that the demapper is told, and the symbols have unit energy") {
    for (const int modcod : {1, 12, 18, 28}) {
        Testbench<BerIdealLink> bench(Pls{modcod, FrameSize::normal, false}, 3.0, std::uint64_t{1});
        bench.step();
        const auto noisy = bench.read(bench->data);
        const auto symbols =
            static_cast<std::size_t>(layout_of({modcod, FrameSize::normal, false}).data_symbols);
        double power = 0;
        for (const dsp::Iq symbol : noisy.subspan(0, symbols)) power += std::norm(symbol);
        const double n0 = std::pow(10.0, -0.3);
        CHECK(power / static_cast<double>(symbols) == doctest::Approx(1 + n0).epsilon(0.03));
        CHECK(bench.read(bench->quality)[0].noise_variance == doctest::Approx(n0));
    }
}

TEST_CASE("ber: far above the threshold nothing is wrong, far below everything is") {
    const BerCounts good = BerTrial({.pls = kQpsk89, .esn0_db = 9}, {.frames = 20}).run(1);
    CHECK(good.frames == 20);
    CHECK(good.bits == 20 * 14232);
    CHECK(good.frame_errors == 0);
    CHECK(good.bit_errors == 0);
    const BerCounts bad = BerTrial({.pls = kQpsk89, .esn0_db = 3}, {.frames = 20}).run(1);
    CHECK(bad.frame_errors == 20);
    CHECK(bad.undetected == 0);
    // At 3 dB one QPSK bit in 43 is wrong, and the decoder does not help: Q(sqrt(Es/N0)) = 0.0229.
    CHECK(bad.bit_error_rate() == doctest::Approx(0.0229).epsilon(0.3));
}

TEST_CASE("ber: counts do not depend on threads, nor on where a count was broken off") {
    const BerLimits limits{.frames = 60, .frame_errors = 1000};
    const BerCounts whole = BerTrial(waterfall(), limits).run(1);
    CHECK(whole.frames == 60);
    CHECK(whole.frame_errors > 3);
    CHECK(whole.frame_errors < 57);
    CHECK(BerTrial(waterfall(), limits).run(3) == whole);
    const BerCounts some = BerTrial(waterfall(), {.frames = 23, .frame_errors = 1000}).run(2);
    CHECK(some.frames == 23);
    CHECK(BerTrial(waterfall(), limits, some).run(2) == whole);
}

TEST_CASE("ber: a count that is cut into ranges of frames adds up to the whole, in bursts, too") {
    const auto count_of = [](BerPoint point, std::uint64_t first, std::uint64_t frames) {
        point.first_frame = first;
        return BerTrial(point, {.frames = frames, .frame_errors = 1000}).run(1);
    };
    for (const BerPoint& point : {waterfall(), with_full_sync(6.05, 10)}) {
        BerCounts sum = count_of(point, 0, 20);
        sum += count_of(point, 20, 10);
        sum += count_of(point, 30, 30);
        CHECK(sum == count_of(point, 0, 60));
        CHECK(sum.frame_errors > 3);
        CHECK(sum.ldpc_iterations > 0);
    }
    BerPoint inside = with_full_sync(6.05, 10);
    inside.first_frame = 25;
    CHECK_THROWS_WITH_AS(BerTrial(inside, {}),
                         "frame 25 lies inside a burst of 10: begin with frame 20 or 30", Dvbs2Error);
}

TEST_CASE("ber: frames that min-sum alone leads astray come out right") {
    const BerPoint point{.pls = {12, FrameSize::short_, false}, .esn0_db = 6.0};
    const BerCounts counts = BerTrial(point, {.frames = 1000}).run(2);
    CHECK(counts.frames == 1000);
    CHECK(counts.frame_errors == 0);
}

TEST_CASE("ber: sum-product receives every constellation, and hardly better than the receiver's decoder") {
    for (const int modcod : {10, 16, 22, 27}) {  // rates of 8/9
        CAPTURE(modcod);
        BerPoint point{.pls = {modcod, FrameSize::short_, false},
                       .esn0_db = find_modcod(modcod)->esn0_threshold_db + 0.3};
        point.by_sum_product = true;
        const BerCounts right = BerTrial(point, {.frames = 3}).run(1);
        CHECK(right.frames == 3);
        CHECK(right.frame_errors == 0);
        CHECK(right.ldpc_iterations > 6);
    }
    BerPoint near_threshold = waterfall();
    const BerLimits limits{.frames = 60, .frame_errors = 1000};
    const BerCounts ours = BerTrial(near_threshold, limits).run(2);
    near_threshold.by_sum_product = true;
    const BerCounts reference = BerTrial(near_threshold, limits).run(2);
    CHECK(reference.frames == 60);
    CHECK(reference.frame_errors > 3);
    CHECK(ours.frame_errors < reference.frame_errors + 8);
}

TEST_CASE("ber: enough errors end the count at the same frame, whoever counts") {
    const BerLimits limits{.frames = 1000, .frame_errors = 5};
    const BerCounts one = BerTrial(waterfall(), limits).run(1);
    CHECK(one.frame_errors == 5);
    CHECK(one.frames < 1000);
    CHECK(BerTrial(waterfall(), limits).run(3) == one);
    std::stop_source stop;
    stop.request_stop();
    CHECK(BerTrial(waterfall(), limits).run(2, stop.get_token()).frames < 10);
}

TEST_CASE(
    "ber: the whole receiver delivers every frame of a burst, and a hopeless burst is counted as lost") {
    const BerCounts good = BerTrial(with_full_sync(8, 30), {.frames = 60}).run(2);
    CHECK(good.frames == 60);
    CHECK(good.frame_errors == 0);
    CHECK(good.frames_lost == 0);
    CHECK(good.undetected == 0);
    const BerCounts lost = BerTrial(with_full_sync(-10, 20), {.frames = 20}).run(1);
    CHECK(lost.frame_errors == 20);
    CHECK(lost.frames_lost == 20);
    CHECK(lost.bits == 0);
}

TEST_CASE("ber: frames that the whole receiver sees but cannot correct are counted by their place") {
    const BerCounts bad = BerTrial(with_full_sync(6.05, 60), {.frames = 60}).run(1);
    CHECK(bad.frame_errors > bad.frames_lost);
    CHECK(bad.undetected == 0);
    CHECK(bad.bits == (60 - bad.frames_lost) * 14232);
    CHECK(bad.bit_errors > 0);
    CHECK(bad.bit_error_rate() < 0.02);
}

}  // namespace tidemill::dvbs2
