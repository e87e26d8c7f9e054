#include "tidemill/dsp/sign_byte_interpolator.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/interpolator.hpp"
#include "tidemill/dsp/pulse.hpp"
#include "tidemill/dsp/testing/every_target.hpp"

namespace tidemill::dsp {

TEST_CASE(
    "sign_byte_interpolator: every instruction set gives the same bytes, the textbook's but for a near tie") {
    constexpr std::size_t kReach = 20, kCount = 1203;
    constexpr float kMagnitude = 0.7F;
    const Interpolator interpolator(kReach, 2, [](double t) { return root_raised_cosine(t, 0.2); });
    std::mt19937 random(5);
    std::vector<Iq> x(kCount + interpolator.history());
    for (Iq& v : x) {
        const auto signs = random();
        v = {(signs & 1U) != 0 ? -kMagnitude : kMagnitude, (signs & 2U) != 0 ? -kMagnitude : kMagnitude};
    }
    std::vector<Iq> exact(2 * kCount);
    interpolator.process(x, exact);
    for (const SampleFormat format : {SampleFormat::ci8, SampleFormat::cu8}) {
        const bool is_signed = format == SampleFormat::ci8;
        for (const float gain : {0.0F, 1e-5F, 0.25F, 0.6F, 0.9F}) {
            CAPTURE(gain);
            std::vector<std::byte> first;
            on_every_target([&] {
                std::vector<std::byte> got(4 * kCount);
                std::uint64_t limited = 0;
                const std::size_t done = SignByteInterpolator(interpolator.taps(), kMagnitude, gain, format)
                                             .process(x, got, limited);
                CHECK(done == (kCount - 1) / 16 * 16);
                std::uint64_t beyond = 0;
                const double full = is_signed ? 127.0 : 127.5;
                for (std::size_t n = 0; n < 2 * done; ++n) {
                    bool is_beyond = false;
                    for (std::size_t part = 0; part < 2; ++part) {
                        const double value = full * static_cast<double>(gain * (part == 0 ? exact[n].real()
                                                                                          : exact[n].imag()));
                        const auto byte = static_cast<std::uint8_t>(got[2 * n + part]);
                        const double told = is_signed ? static_cast<std::int8_t>(byte) : byte - 127.5;
                        is_beyond |= std::abs(value) > full;
                        CHECK(std::abs(told - std::clamp(value, -full, full)) < 0.5 + 14 * 0.5 / 128);
                    }
                    beyond += is_beyond ? 1U : 0U;
                }
                CHECK(std::abs(static_cast<double>(limited) - static_cast<double>(beyond)) <= 3);
                if (first.empty()) first = got;
                CHECK(got == first);
            });
        }
    }
}

TEST_CASE(
    "sign_byte_interpolator: what 16 bits do not hold, and samples of another magnitude, are left alone") {
    const Interpolator interpolator(20, 2, [](double t) { return root_raised_cosine(t, 0.2); });
    std::vector<Iq> x(600, Iq(0.7F, -0.7F));
    std::vector<std::byte> got(4 * (x.size() - interpolator.history()));
    std::uint64_t limited = 0;
    const auto done = [&](float gain) {
        return SignByteInterpolator(interpolator.taps(), 0.7F, gain, SampleFormat::ci8)
            .process(x, got, limited);
    };
    CHECK(done(0.25F) == 560);
    CHECK(done(100.0F) == 0);
    CHECK(done(std::numeric_limits<float>::infinity()) == 0);
    CHECK(done(std::numeric_limits<float>::quiet_NaN()) == 0);
    x[3] = {0.7F, 0.5F};
    CHECK(done(0.25F) == 0);
    CHECK(limited == 0);
}

}  // namespace tidemill::dsp
