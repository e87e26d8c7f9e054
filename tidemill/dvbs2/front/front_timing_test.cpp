#include "tidemill/dvbs2/front/front_timing.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {
namespace {

constexpr std::uint32_t kSubblocksPerBlock = 16;
constexpr std::int64_t kFirstLoud = 1000;  // sub-block

// Noise, then a signal of power 1 in it; both scatter as the data and the noise of 512 symbols do.
struct Signal {
    double noise_power;
    double clock_ppm;
    std::mt19937 random{1};

    SubblockTiming subblock(std::int64_t number) {
        const double signal = number < kFirstLoud ? 0 : 1;
        const double tau = 0.3 - clock_ppm * 1e-6 * kSubblockSymbols * static_cast<double>(number);
        const double scatter = 0.05 * signal + 0.1 * noise_power;
        std::normal_distribution<double> normal;
        const auto phasor = std::polar(signal, 2 * std::numbers::pi * tau) +
                            scatter * std::complex(normal(random), normal(random));
        return {Iq(phasor), static_cast<float>(signal + noise_power)};
    }

    FilteredInfo block(std::int64_t number) {
        FilteredInfo info{.block = number,
                          .first_subblock = number * kSubblocksPerBlock,
                          .subblocks = kSubblocksPerBlock,
                          .restart = number == 0};
        for (std::uint32_t s = 0; s < info.subblocks; ++s) {
            info.timing[s] = subblock(info.first_subblock + s);
        }
        return info;
    }
};

}  // namespace

TEST_CASE(
    "timing: however loud a signal begins after noise, its clock is right within 5 ppm from its first symbol "
    "on") {
    for (const double noise_power : {0.0, 0.001, 0.01, 0.1, 0.5, 1.0}) {
        for (const double clock_ppm : {-64.0, 0.0, 100.0}) {
            CAPTURE(noise_power);
            CAPTURE(clock_ppm);
            Signal signal{noise_power, clock_ppm};
            TimingTracker tracker;
            std::int64_t block = 0;
            KeptBlocks decision;
            while (!tracker.locked() && block < 100) decision = tracker.step(signal.block(block++));
            REQUIRE(tracker.locked());
            CHECK(std::abs(tracker.clock_ppm() - clock_ppm) < 5);
            CHECK((block - decision.release) * kSubblocksPerBlock <= kFirstLoud);
        }
    }
}

}  // namespace tidemill::dvbs2
