#include "tidemill/tuning/profile/recurring_cost.hpp"

#include <random>

#include <doctest/doctest.h>

namespace tidemill {
namespace {

using doctest::Approx;

/// A call of 100 ticks on each of so many frames, but for what `of_frame` says.
template <class OfFrame>
CostPerFrame cost_of(std::uint64_t frames, OfFrame of_frame) {
    RecurringCost cost;
    for (std::uint64_t frame = 0; frame < frames; ++frame) cost.add(frame, of_frame(frame));
    return cost.per_frame(frames);
}

}  // namespace

TEST_CASE("recurring cost: the mean of calls that differ little is their mean") {
    const CostPerFrame cost = cost_of(1000, [](std::uint64_t frame) { return 100 + frame % 2 * 100; });
    CHECK(cost.mean == Approx(150));
    CHECK(cost.once == 0);
    CHECK(cost.error < 0.01);
}

TEST_CASE("recurring cost: hard work on each 50th frame counts within 1 %, however many frames were seen") {
    for (const std::uint64_t frames : {160u, 199u, 201u, 249u, 1000u, 1049u, 20000u}) {
        CAPTURE(frames);
        const CostPerFrame cost =
            cost_of(frames, [](std::uint64_t frame) { return frame % 50 == 17 ? 50'000u : 100u; });
        CHECK(cost.mean == Approx((50'000 + 49 * 100) / 50.0).epsilon(0.01));
        CHECK(cost.once == 0);
    }
}

TEST_CASE("recurring cost: what happens once is not a weight, and is told beside") {
    const CostPerFrame cost = cost_of(1000, [](std::uint64_t frame) { return frame == 3 ? 400'000u : 100u; });
    CHECK(cost.mean == Approx(100));
    CHECK(cost.once == Approx(399'900));
    CHECK(cost.error < 1);
}

TEST_CASE("recurring cost: a search on the first frames is over, however many calls it took") {
    const CostPerFrame cost = cost_of(1000, [](std::uint64_t frame) { return frame < 20 ? 50'000u : 100u; });
    CHECK(cost.mean == Approx(100));
    CHECK(cost.once == Approx(20 * 49'900));
}

TEST_CASE("recurring cost: a buffer that doubles again and again is no weight") {
    const CostPerFrame cost = cost_of(1025, [](std::uint64_t frame) {
        return frame >= 16 && (frame & (frame - 1)) == 0 ? 100 * frame : 100;
    });
    CHECK(cost.mean == Approx(100));
}

TEST_CASE("recurring cost: rare work at random frames stays in the mean") {
    std::mt19937_64 random(3);
    double sum = 0;
    const CostPerFrame cost = cost_of(20'000, [&](std::uint64_t) {
        const std::uint64_t ticks = random() % 40 == 0 ? 20'000 + random() % 4000 : 100;
        sum += static_cast<double>(ticks);
        return ticks;
    });
    CHECK(cost.mean == Approx(sum / 20'000).epsilon(0.01));
    CHECK(cost.error > 0);
    CHECK(cost.error < 0.2 * cost.mean);
}

TEST_CASE("recurring cost: several calls a frame, and frames without any, count per frame") {
    RecurringCost cost;
    for (std::uint64_t frame = 0; frame < 300; frame += 3)
        for (int call = 0; call < 6; ++call) cost.add(frame, 50);
    CHECK(cost.per_frame(300).mean == Approx(100));
    CHECK(cost.calls() == 600);
}

TEST_CASE("recurring cost: the error tells how far the mean of other frames may lie") {
    std::mt19937_64 random(7);
    int within = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const CostPerFrame cost = cost_of(1000, [&](std::uint64_t) { return 500 + random() % 1000; });
        within += std::abs(cost.mean - 999.5) < 2 * cost.error ? 1 : 0;
    }
    CHECK(within > 180);
    CHECK(within < 200);
}

}  // namespace tidemill
