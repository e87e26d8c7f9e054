#include "tidemill/apps/outputs/signal_stamps.hpp"

#include <doctest/doctest.h>

namespace tidemill::cli {

TEST_CASE("signal stamps: they are even, however late the receiver is with a frame") {
    SignalStamps stamps;
    CHECK(stamps.at(100, 7).at_s == 0);
    for (int frame = 1; frame < 100; ++frame) {
        const double late_s = frame % 3 == 0 ? 0.2 : 0.01;
        const SignalStamp stamp = stamps.at(100 + 0.03 * frame, 7 + 0.03 * frame + late_s);
        CHECK(stamp.at_s == doctest::Approx(0.03 * frame));
        CHECK_FALSE(stamp.jumps);
    }
}

TEST_CASE("signal stamps: two clocks that differ by 50 ppm never make them jump") {
    SignalStamps stamps;
    for (int minute = 0; minute < 24 * 60; ++minute) {
        const SignalStamp stamp = stamps.at(60 * minute, 60 * minute * (1 + 50e-6));
        CHECK_FALSE(stamp.jumps);
        CHECK(stamp.at_s == doctest::Approx(60 * minute));
    }
}

TEST_CASE("signal stamps: a signal that was away costs one jump, and they go on by the clock on the wall") {
    SignalStamps stamps;
    stamps.at(0, 0);
    CHECK(stamps.at(1, 1).at_s == 1);
    const SignalStamp back = stamps.at(1.1, 11);  // no symbols for ten seconds
    CHECK(back.jumps);
    CHECK(back.at_s == doctest::Approx(11));
    const SignalStamp next = stamps.at(2.1, 12);
    CHECK_FALSE(next.jumps);
    CHECK(next.at_s == doctest::Approx(12));
}

}  // namespace tidemill::cli
