#include "tidemill/dvbs2/sync/internal/frame_grid.hpp"

#include <vector>

#include <doctest/doctest.h>

namespace tidemill::dvbs2::internal {
namespace {

constexpr int kLength = 8370;

/// Frames that come one behind the other, in samples whose clock is 20 ppm off, and the grid's result.
struct Coming {
    HeardSymbols heard;
    FrameGrid grid;
    std::uint64_t start = 0;
    double place = 0;
    std::vector<MissingSymbols> told{};

    // Its header is recognised.
    void frame(int length = kLength) {
        heard.places.mark(start, {.symbol = 0, .leaps = false, .place = place, .step = 1 + 20e-6});
        const MissingSymbols missing =
            grid.step(heard, {.start = start, .length = length, .pls = {}, .good = true});
        if (missing.count > 0) told.push_back(missing);
        pass(length);
    }
    void frames(int count) {
        for (int i = 0; i < count; ++i) frame();
    }
    void pass(double symbols) {
        start += static_cast<std::uint64_t>(symbols);
        place += symbols * (1 + 20e-6);
    }
    // So many symbols never came.
    void miss(double symbols) {
        start -= static_cast<std::uint64_t>(symbols);
        place -= symbols * (1 + 20e-6);
    }
};

}  // namespace

TEST_CASE("frame_grid: what is missing is told, with fractions, where the clock has come to rest behind it") {
    for (const double missing : {0.5, 17.0, 617.25, 4000.0, 8368.0}) {
        CAPTURE(missing);
        Coming coming;
        coming.frames(20);
        coming.miss(missing);
        coming.frames(3);
        CHECK(coming.told.empty());
        coming.frames(3);
        REQUIRE(coming.told.size() == 1);
        CHECK(coming.told[0].count == doctest::Approx(missing).epsilon(1e-4));
        CHECK(coming.told[0].frame == doctest::Approx(kLength).epsilon(1e-4));
        CHECK(coming.told[0].place > 18.9 * kLength);
        CHECK(coming.told[0].place < 20.1 * kLength);
        CHECK(coming.told[0].doubtful == 0);
    }
}

TEST_CASE("frame_grid: more than a frame is told modulo a frame, whatever is lost with it") {
    Coming coming;
    coming.frames(20);
    coming.pass(kLength);  // a header that noise hides
    coming.miss(kLength + 100);
    coming.pass(kLength);
    coming.frames(6);
    REQUIRE(coming.told.size() == 1);
    CHECK(coming.told[0].count == doctest::Approx(100).epsilon(1e-3));
}

TEST_CASE("frame_grid: frames that noise hides and symbols that the clock slips by are not missing") {
    Coming coming;
    coming.frames(20);
    coming.pass(2 * kLength);
    coming.frames(10);
    coming.start += 1;
    coming.frames(10);
    coming.start -= 2;
    coming.frames(10);
    CHECK(coming.told.empty());
}

TEST_CASE("frame_grid: frames of several lengths lie one behind the other, too") {
    Coming coming;
    for (int i = 0; i < 20; ++i) coming.frame(i % 3 == 0 ? 3330 : kLength);
    coming.pass(3330);  // one that noise hides
    coming.frames(10);
    CHECK(coming.told.empty());
    coming.miss(500);
    coming.frames(6);
    REQUIRE(coming.told.size() == 1);
    CHECK(coming.told[0].count == doctest::Approx(500).epsilon(1e-3));
}

TEST_CASE("frame_grid: where a signal comes back after a long time, what is missing is told as doubtful") {
    Coming coming;
    coming.frames(20);
    coming.pass(60.5 * kLength);
    coming.miss(17);
    coming.frames(10);
    REQUIRE(coming.told.size() == 1);
    CHECK(coming.told[0].doubtful == 1);
    CHECK(coming.told[0].count == doctest::Approx(0.5 * kLength + 17).epsilon(1e-4));
    CHECK(coming.told[0].before == doctest::Approx(19 * kLength).epsilon(1e-4));
    CHECK(coming.told[0].behind == doctest::Approx(80.5 * kLength - 17).epsilon(1e-4));
}

TEST_CASE("frame_grid: where a signal comes back after longer than the grid reaches, nothing is told") {
    Coming coming;
    coming.frames(20);
    coming.pass(90.5 * kLength);
    coming.frames(10);
    CHECK(coming.told.empty());
}

TEST_CASE("frame_grid: two places near each other are both told, the last one at the signal's end") {
    Coming coming;
    coming.frames(20);
    coming.miss(100);
    coming.frames(2);
    coming.miss(30);
    coming.frames(2);
    REQUIRE(coming.told.size() == 1);
    CHECK(coming.told[0].count == doctest::Approx(100).epsilon(1e-3));
    CHECK(coming.grid.settle().count == doctest::Approx(30).epsilon(1e-3));
    CHECK(coming.grid.settle().count == 0);
}

TEST_CASE("frame_grid: one header beside the grid is an accident, and two are none") {
    for (const int behind : {1, 2}) {
        CAPTURE(behind);
        Coming coming;
        coming.frames(20);
        coming.miss(100);
        coming.frames(behind);
        CHECK((coming.grid.settle().count > 0) == (behind == 2));
    }
}

}  // namespace tidemill::dvbs2::internal
