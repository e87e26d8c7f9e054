#include "tidemill/dsp/instruction_set.hpp"

#include <complex>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include "tidemill/dsp/dsp_error.hpp"
#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dsp/testing/every_target.hpp"

namespace tidemill::dsp {
namespace {

std::vector<Iq> noise() {
    std::vector<Iq> samples(700);
    add_gaussian_noise(5, 0, 1, samples);
    return samples;
}

}  // namespace

TEST_CASE("instruction set: kernels use the one that is named, until another one is") {
    struct Restore {
        ~Restore() {
            hwy::DisableTargets(0);
            select_target(0);
        }
    };
    const Restore restore;
    std::vector<std::vector<Iq>> forced;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        select_target(target);
        forced.push_back(noise());
    }
    select_target(0);
    const std::vector<std::string> names = instruction_sets();
    REQUIRE(names.size() == forced.size());
    for (const bool backward : {false, true}) {
        for (std::size_t k = 0; k < names.size(); ++k) {
            const std::size_t which = backward ? names.size() - 1 - k : k;
            CAPTURE(names[which]);
            use_instruction_set(names[which]);
            CHECK(noise() == forced[which]);
            CHECK(instruction_sets() == names);
        }
    }
}

TEST_CASE("instruction set: one that is not there is refused with those that are") {
    const std::string best = instruction_sets().front();
    CHECK(instruction_set_of(best) == best);
    const auto sentence = doctest::Contains(("there are " + best).c_str());
    CHECK_THROWS_WITH_AS(use_instruction_set("AVX9"), sentence, DspError);
    CHECK_THROWS_WITH_AS(instruction_set_of(""), sentence, DspError);
}

}  // namespace tidemill::dsp
