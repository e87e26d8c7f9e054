#include "tidemill/dvbs2/carrier/internal/derotate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

namespace tidemill::dvbs2::internal {
namespace {

TEST_CASE("derotate: on every target the error stays below -90 dB, for odd lengths, places and steps") {
    std::vector<dsp::Iq> in(1600), factor(1600), out(1600);
    for (std::size_t i = 0; i < in.size(); ++i) {
        in[i] = std::polar(1.0F, 0.37F * static_cast<float>(i));
        factor[i] = i % 3 == 0 ? dsp::Iq{0, 1} : dsp::Iq{-1, 0};
    }
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        Derotator derotate;
        for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 1476U}) {
            for (const std::size_t shift : {0U, 1U, 3U}) {
                const PhaseLine line{2.5, shift == 3 ? 0.0456 : -0.123456};
                std::ranges::fill(out, dsp::Iq{7, 7});
                derotate(std::span(in).subspan(shift, count), std::span(factor).subspan(shift, count), line,
                         std::span(out).subspan(shift, count));
                double worst = 0;
                for (std::size_t i = 0; i < count; ++i) {
                    const std::complex<double> turn =
                        std::polar(1.0, -(line.start + static_cast<double>(i) * line.step));
                    const auto expected = std::complex<double>(in[shift + i] * factor[shift + i]) * turn;
                    worst = std::max(worst, std::abs(std::complex<double>(out[shift + i]) - expected));
                }
                CAPTURE(hwy::TargetName(target));
                CAPTURE(count);
                CHECK(worst < 3.1e-5);
                CHECK(std::ranges::count(out, dsp::Iq{7, 7}) == static_cast<int>(out.size() - count));
            }
        }
    }
    hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace tidemill::dvbs2::internal
