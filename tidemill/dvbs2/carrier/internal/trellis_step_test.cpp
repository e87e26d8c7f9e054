#include "tidemill/dvbs2/carrier/internal/trellis_step.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

namespace tidemill::dvbs2::internal {
namespace {

float plain_step(const float* from, const MovePenalties& penalties, float gain) {
    float best = std::numeric_limits<float>::lowest();
    for (int move = -kPhaseReach; move <= kPhaseReach; ++move) {
        best = std::max(best, from[-move] + penalties[static_cast<std::size_t>(std::abs(move))]);
    }
    return best + gain;
}

}  // namespace

TEST_CASE("trellis step: the same as a plain loop to the bit, on every target") {
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0, 20);
    const auto draw = [&] { return normal(random); };
    std::vector<float> scores(kPhaseStates + 2 * kPhaseReach);
    PerState turn_re{}, turn_im{}, to{};
    std::ranges::generate(scores, draw);
    std::ranges::generate(turn_re, draw);
    std::ranges::generate(turn_im, draw);
    const float* from = scores.data() + kPhaseReach;
    const MovePenalties penalties{0, -0.7F, -2.8F, -6.3F, -11.2F};
    const std::complex<float> emission{1.7F, -0.4F};
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        trellis_step(from, penalties, emission, turn_re, turn_im, to.data());
        CAPTURE(hwy::TargetName(target));
        for (std::size_t s = 0; s < to.size(); ++s) {
            const float gain = emission.real() * turn_re[s] + emission.imag() * turn_im[s];
            CHECK(to[s] == plain_step(from + s, penalties, gain));
        }
    }
    hwy::SetSupportedTargetsForTest(0);
}

}  // namespace tidemill::dvbs2::internal
