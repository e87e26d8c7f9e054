#include "tidemill/dvbs2/search/steady_stretches.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

constexpr double kSampleRate_hz = 1e6;
constexpr std::uint64_t kMargin = 1 << 14;

struct Sent {
    std::uint64_t first;
    std::vector<dsp::Iq> samples;
};

std::vector<dsp::Iq> carrier(double symbol_rate_hz, double offset_hz, double seconds, double esn0_db) {
    const std::vector<BandCarrier> one{{.symbol_rate_hz = symbol_rate_hz, .offset_hz = offset_hz}};
    auto samples =
        make_band({.sample_rate_hz = kSampleRate_hz, .seconds = seconds, .esn0_db = 100}, one).samples;
    const double gain = std::sqrt(std::pow(10, esn0_db / 10) * symbol_rate_hz / kSampleRate_hz);
    for (dsp::Iq& sample : samples) sample *= static_cast<float>(gain);
    return samples;
}

// Noise of power 1 with what was sent in it, made where it is read.
std::vector<SampleStretch> stretches_of(std::uint64_t samples, const std::vector<Sent>& all) {
    return steady_stretches(samples, [&](std::uint64_t first, std::span<dsp::Iq> to) {
        const std::size_t count = std::min<std::uint64_t>(to.size(), samples - first);
        std::ranges::fill(to, dsp::Iq{});
        dsp::add_gaussian_noise(3, first, 1, to.first(count));
        for (const Sent& one : all)
            for (std::uint64_t n = std::max(first, one.first);
                 n < std::min(first + count, one.first + one.samples.size()); ++n)
                to[n - first] += one.samples[n - one.first];
        return count;
    });
}

bool is_about(const SampleStretch& stretch, std::uint64_t first, std::uint64_t last) {
    return stretch.first <= first && stretch.first + kMargin >= first &&
           stretch.first + stretch.count >= last && stretch.first + stretch.count <= last + kMargin;
}

}  // namespace

TEST_CASE("steady stretches: a carrier without noise, behind silence, is one") {
    const auto clean = carrier(125e3, 78e3, 3, 60);
    std::vector<dsp::Iq> samples(5'000'000);
    std::ranges::copy(clean, samples.end() - std::ssize(clean));
    // As a converter of 16 bits gives them.
    for (dsp::Iq& sample : samples)
        sample = {std::round(sample.real() * 30) / 30, std::round(sample.imag() * 30) / 30};
    const auto stretches = steady_stretches(samples.size(), [&](std::uint64_t first, std::span<dsp::Iq> to) {
        const std::size_t count = std::min<std::size_t>(to.size(), samples.size() - first);
        std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(first), count, to.begin());
        return count;
    });
    REQUIRE(stretches.size() == 2);
    CHECK(is_about(stretches[0], samples.size() - clean.size(), samples.size()));
}

TEST_CASE("steady stretches: noise and a carrier that stays are one") {
    CHECK(stretches_of(2'000'000, {}) == std::vector<SampleStretch>{{0, 2'000'000}});
    const auto stays = carrier(200e3, 100e3, 2, 5);
    CHECK(stretches_of(stays.size(), {{0, stays}}).size() == 1);
    CHECK(stretches_of(5000, {}).size() == 1);
}

TEST_CASE("steady stretches: where a carrier comes and goes is found, wide or narrow, strong or weak") {
    for (const double symbol_rate_hz : {20e3, 100e3, 500e3})
        for (const double esn0_db : {-2.0, 3.0, 15.0}) {
            CAPTURE(symbol_rate_hz);
            CAPTURE(esn0_db);
            const auto sent = carrier(symbol_rate_hz, 0, 1, esn0_db);
            const auto stretches = stretches_of(4'000'000, {{1'700'000, sent}});
            REQUIRE(stretches.size() == 3);
            CHECK(is_about(stretches.front(), 1'700'000, 1'700'000 + sent.size()));
        }
}

TEST_CASE("steady stretches: a burst of 20 ms is found in forty seconds of noise, and a carrier that moves") {
    const auto burst = carrier(500e3, 0, 0.02, 6);
    const auto stretches = stretches_of(40'000'000, {{31'234'567, burst}});
    REQUIRE(stretches.size() == 3);
    CHECK(is_about(stretches.front(), 31'234'567, 31'234'567 + burst.size()));
    const auto low = carrier(100e3, -200e3, 0.5, 6), high = carrier(100e3, 200e3, 0.5, 6);
    CHECK(stretches_of(low.size() + high.size(), {{0, low}, {low.size(), high}}).size() == 2);
}

}  // namespace tidemill::dvbs2
