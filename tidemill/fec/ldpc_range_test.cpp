#include "tidemill/fec/ldpc_range.hpp"

#include <cstdlib>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <hwy/targets.h>

namespace tidemill::fec {

TEST_CASE("ldpc range: on every instruction set, of any length, LLRs are added up and halved towards 0") {
    std::mt19937 random(1);
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        CAPTURE(hwy::TargetName(target));
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        for (std::size_t count = 0; count <= 256; ++count) {
            std::vector<Llr> llrs(count);
            int magnitudes = 0;
            for (Llr& llr : llrs) {
                llr = static_cast<Llr>(static_cast<int>(random() % 255) - 127);
                magnitudes += std::abs(int{llr});
            }
            REQUIRE(mean_magnitude(llrs) == (count > 0 ? magnitudes / static_cast<double>(count) : 0));
            const int times = static_cast<int>(count % (kMostLdpcHalvings + 1));
            std::vector<Llr> expected, halved(count);
            for (const Llr llr : llrs) expected.push_back(static_cast<Llr>(llr / (1 << times)));
            halve_llrs(llrs, times, halved);
            REQUIRE(halved == expected);
            halve_llrs(llrs, times, llrs);
            REQUIRE(llrs == expected);
        }
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace tidemill::fec
