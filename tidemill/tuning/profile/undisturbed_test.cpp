#include "tidemill/tuning/profile/undisturbed.hpp"

#include <random>

#include <doctest/doctest.h>

using namespace tidemill;

namespace {

// 20 us and little noise; of some windows, what another program takes of a core besides.
Undisturbed windows_of(double share_disturbed) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> noise(20, 0.05);
    std::uniform_real_distribution<double> share(0, 1), slice_us(5, 150);
    std::vector<double> windows_us;
    for (int window = 0; window < 400; ++window)
        windows_us.push_back(noise(random) + (share(random) < share_disturbed ? slice_us(random) : 0));
    return undisturbed(windows_us);
}

}  // namespace

TEST_CASE("undisturbed: with other programs in half of the windows it is what it is without them") {
    const Undisturbed quiet = windows_of(0), busy = windows_of(0.5);
    CHECK(quiet.us == doctest::Approx(20).epsilon(0.01));
    CHECK(busy.us == doctest::Approx(quiet.us).epsilon(0.005));
    CHECK(quiet.is_repeated_within(0.2));
    CHECK(busy.is_repeated_within(0.2));
    CHECK(busy.upper_quartile_us > 40);
}

TEST_CASE("undisturbed: where other programs are in nearly all windows the least is not repeated") {
    CHECK_FALSE(windows_of(0.85).is_repeated_within(0.2));
    CHECK_FALSE(windows_of(1).is_repeated_within(0.2));
}
