#include "tidemill/dvbs2/front/symbol_timing.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {
namespace {

constexpr std::uint32_t kSubblocksPerBlock = 16;
constexpr std::int64_t kFirstLoud = 1000;  // sub-block

// Noise, then a signal of power 1 in it; both scatter as the data and the noise of 512 symbols do.
struct Signal {
    double noise_power;
    double clock_ppm;
    std::int64_t leap_at = 0;  // sub-block from which on the clock stands elsewhere,
    double leap = 0;           // by so many symbols
    double drift_ppm = 0;      // of the clock in each sub-block, once the signal is there
    std::mt19937 random{1};

    double tau(std::int64_t number) const {
        const auto loud = static_cast<double>(std::max(number - kFirstLoud, std::int64_t{0}));
        const double ppm_subblocks = clock_ppm * static_cast<double>(number) + drift_ppm * loud * loud / 2;
        return 0.3 - ppm_subblocks * 1e-6 * kSubblockSymbols + (number >= leap_at ? leap : 0);
    }

    SubblockTiming subblock(std::int64_t number) {
        const double signal = number < kFirstLoud ? 0 : 1;
        const double scatter = 0.05 * signal + 0.1 * noise_power;
        std::normal_distribution<double> normal;
        const auto phasor = std::polar(signal, 2 * std::numbers::pi * tau(number)) +
                            scatter * std::complex{normal(random), normal(random)};
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

/// The sampling_instants of a signal, of one sub-block after the other.
struct Strobes {
    struct Run {
        double off;  // of the middle one from where it should be, in symbols
        bool leaps;
    };
    std::vector<Run> runs{};

    Strobes(Signal signal, std::int64_t subblocks) {
        SymbolTimingLoop tracker;
        for (std::int64_t block = 0; block * kSubblocksPerBlock < subblocks; ++block) {
            for (std::uint32_t left = tracker.step(signal.block(block)).release; left > 0; --left)
                take(signal, tracker.next());
        }
    }

    void take(const Signal& signal, const StrobePlan& plan) {
        for (std::uint32_t s = 0; s < plan.runs; ++s) {
            const StrobeRun& run = plan.run[s];
            const double middle = (run.first + run.step * (run.count / 2)) / 2;
            const double off = middle - signal.tau(plan.first_subblock + s);
            runs.push_back({off - std::round(off), run.leaps});
        }
    }

    std::int64_t leaps() const { return std::ranges::count_if(runs, &Run::leaps); }
};

}  // namespace

TEST_CASE("timing: where the clock leaps, sampling_instants leap with it, within a sub-block") {
    constexpr std::int64_t kSubblocks = 163 * kSubblocksPerBlock;
    for (const double noise_power : {0.001, 0.1, 1.5}) {
        for (const double leap : {0.25, -0.25, 0.4, 0.5}) {
            for (const std::int64_t at : {2000, 2003, 2007, 2012, 2013, 2015}) {
                CAPTURE(noise_power);
                CAPTURE(leap);
                CAPTURE(at);
                const Strobes sampling_instants({noise_power, 20, at, leap}, kSubblocks);
                // The first of all is one. A place in the last sub-blocks of a block may be found early,
                // where the leap seems smaller, and what is left of it in the next block.
                CHECK(sampling_instants.leaps() >= 2);
                CHECK(sampling_instants.leaps() <= (at % 16 > 12 ? 3 : 2));
                const auto first = static_cast<std::int64_t>(sampling_instants.runs.size()) - kSubblocks;
                const auto off_at = [&](std::int64_t subblock) {
                    return std::abs(sampling_instants.runs[static_cast<std::size_t>(first + subblock)].off);
                };
                // A place in the last sub-blocks of a block shows in the next block.
                for (std::int64_t i = (at % 16 > 12 ? at / 16 * 16 + 16 : at + 1); i < 2590; ++i)
                    CHECK(off_at(i) < 0.15);
            }
        }
    }
}

TEST_CASE("timing: a steady clock never leaps, however noisy it is") {
    for (const double noise_power : {0.0, 0.1, 1.0, 1.7}) {
        CAPTURE(noise_power);
        CHECK(Strobes({noise_power, 60}, 100'000).leaps() == 1);
    }
}

TEST_CASE("timing: a clock that drifts by 100 ppm/s at 1 MBd, up to 333 ppm, is followed and never leaps") {
    constexpr std::int64_t kSubblocks = kFirstLoud + 6500;
    for (const double noise_power : {0.0, 0.1, 1.0}) {
        for (const double drift_ppm : {0.0512, -0.0512}) {
            CAPTURE(noise_power);
            CAPTURE(drift_ppm);
            const Strobes sampling_instants(
                {.noise_power = noise_power, .clock_ppm = 0, .drift_ppm = drift_ppm}, kSubblocks);
            CHECK(sampling_instants.leaps() == 1);
            double mean = 0, largest = 0;
            constexpr std::size_t kLate = 5000;  // sub-blocks, once the drift is known
            for (const auto& run : std::span(sampling_instants.runs).last(kLate)) {
                mean += run.off / kLate;
                largest = std::max(largest, std::abs(run.off));
            }
            CHECK(std::abs(mean) < 0.015);
            CHECK(largest < 0.08);
        }
    }
}

TEST_CASE(
    "timing: however loud a signal begins after noise, its clock is right within 5 ppm from its first symbol "
    "on") {
    for (const double noise_power : {0.0, 0.001, 0.01, 0.1, 0.5, 1.0}) {
        for (const double clock_ppm : {-64.0, 0.0, 100.0}) {
            CAPTURE(noise_power);
            CAPTURE(clock_ppm);
            Signal signal{noise_power, clock_ppm};
            SymbolTimingLoop tracker;
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
