#include "tidemill/dvbs2/search/internal/unknown_pulses.hpp"

#include <algorithm>
#include <cstddef>

#include "tidemill/dvbs2/front/pulse_blanker.hpp"

namespace tidemill::dvbs2::internal {

namespace {

// The most that a receiver takes: what is the peak of one symbol for a narrow carrier is no pulse.
constexpr double kSamplesPerSymbol = 16;
constexpr std::size_t kWindow = 1 << 15;

}  // namespace

void blank_unknown_pulses(std::span<dsp::Iq> samples) {
    PulseBlanker blanker(FrontGeometry({.sample_rate_hz = kSamplesPerSymbol, .symbol_rate_hz = 1}));
    while (!samples.empty()) {
        const auto window = samples.first(std::min(kWindow, samples.size()));
        blanker.blank(window);
        samples = samples.subspan(window.size());
    }
}

}  // namespace tidemill::dvbs2::internal
