#include "tidemill/dvbs2/search/gold_search.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dvbs2/send/frame_modulator.hpp"

namespace tidemill::dvbs2 {
namespace {

// Frames of a signal with any phase and a frequency that the coarse estimate has left.
GoldSearch heard(const Pls& pls, int gold_code, double esn0_db, int frames) {
    const FrameModulator modulator(pls, gold_code);
    const std::vector<std::uint8_t> bbframe(modulator.bbframe_bytes(), 0x5a);
    std::vector<dsp::Iq> frame(modulator.plframe_symbols());
    GoldSearch search;
    for (int n = 0; n < frames; ++n) {
        modulator.modulate(bbframe, frame);
        for (std::size_t i = 0; i < frame.size(); ++i) {
            const double cycles = 0.004 * static_cast<double>(i) + 0.3 * n;
            frame[i] *= dsp::Iq(std::polar(1.0, 2 * std::numbers::pi * cycles));
        }
        const auto amplitude = static_cast<float>(std::pow(10.0, -esn0_db / 20));
        dsp::add_gaussian_noise(1, static_cast<std::uint64_t>(n) << 20, amplitude, frame);
        search.add(frame, {.symbols = static_cast<int>(frame.size()), .pls = pls});
    }
    return search;
}

}  // namespace

TEST_CASE("gold search: codes are found at the noise of the lowest MODCOD, first and last code too") {
    CHECK(heard({1, FrameSize::normal, true}, 0, -2.3, 4).best() == 0);
    CHECK(heard({1, FrameSize::normal, true}, 262141, -2.3, 4).best() == 262141);
    CHECK(heard({6, FrameSize::short_, true}, 1234, 3.1, 6).best() == 1234);
    CHECK(heard({20, FrameSize::normal, true}, 77777, 10, 3).best() == 77777);
}

TEST_CASE("gold search: without pilots, or in noise alone, no code is named") {
    CHECK_FALSE(heard({4, FrameSize::normal, false}, 5, 10, 4).best());
    CHECK_FALSE(heard({4, FrameSize::normal, true}, 5, -30, 4).best());
    CHECK_FALSE(GoldSearch().best());
}

}  // namespace tidemill::dvbs2
