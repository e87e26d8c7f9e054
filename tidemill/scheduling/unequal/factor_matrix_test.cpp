#include "tidemill/scheduling/unequal/factor_matrix.hpp"

#include <thread>

#include <doctest/doctest.h>

namespace tidemill::bridge {

TEST_CASE("factors: what was never written is 1 and absent, also beyond the matrix") {
    const FactorMatrix factors(4, 2);
    for (const policy::TaskTypeId type : {0u, 3u, 4u, 1000u}) {
        CHECK(factors.read(type, 1).value == 1);
        CHECK(factors.read(type, 1).quality == Quality::absent);
    }
    CHECK(factors.read(0, 2).quality == Quality::absent);
}

TEST_CASE("factors: each has the version in which it was written, so its age is known") {
    FactorMatrix factors(2, 2);
    factors.begin_version();
    factors.write(1, 0, 2.5, Quality::estimated);
    factors.begin_version();
    factors.write(0, 1, 4, Quality::measured);
    CHECK(factors.read(1, 0).value == 2.5);
    CHECK(factors.read(1, 0).quality == Quality::estimated);
    CHECK(factors.version() - factors.read(1, 0).version == 1);
    CHECK(factors.version() - factors.read(0, 1).version == 0);
}

TEST_CASE("factors: readers beside the writer see value, quality and version of one writing") {
    FactorMatrix factors(1, 1);
    constexpr std::uint32_t kVersions = 20'000;
    std::thread writer([&] {
        for (std::uint32_t version = 1; version <= kVersions; ++version) {
            factors.begin_version();
            factors.write(0, 0, version, version % 2 == 0 ? Quality::measured : Quality::estimated);
        }
    });
    std::uint32_t last = 0;
    while (last < kVersions) {
        const Factor factor = factors.read(0, 0);
        if (factor.quality == Quality::absent) continue;
        REQUIRE(factor.value == factor.version);
        REQUIRE(factor.version >= last);
        REQUIRE((factor.quality == Quality::measured) == (factor.version % 2 == 0));
        last = factor.version;
    }
    writer.join();
}

}  // namespace tidemill::bridge
