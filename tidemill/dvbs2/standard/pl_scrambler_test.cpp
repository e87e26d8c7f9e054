#include "tidemill/dvbs2/standard/pl_scrambler.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/standard/internal/gold_sequences.hpp"

namespace tidemill::dvbs2 {
namespace {

TEST_CASE("pl_scrambler: code 0 starts as the standard's sequence does") {
    const PlScrambler scrambler(0);
    std::string start;
    for (const std::uint8_t rotation : scrambler.rotations().first(64)) {
        start += static_cast<char>('0' + rotation);
    }
    CHECK(start == "0111131313131333131222200013332333020113323103303122320201013000");
}

TEST_CASE("pl_scrambler: every code balances the four rotations and differs from code 0 in three of four") {
    const PlScrambler zero(0);
    for (const int code : {1, 999, 3333, 12345, 262141}) {
        const PlScrambler other(code);
        std::array<int, 4> count{};
        int equal = 0;
        for (std::size_t i = 0; i < other.rotations().size(); ++i) {
            ++count[other.rotations()[i]];
            equal += other.rotations()[i] == zero.rotations()[i] ? 1 : 0;
        }
        for (const int n : count) {
            CHECK(n == doctest::Approx(33192 / 4.0).epsilon(0.03));
        }
        CHECK(equal == doctest::Approx(33192 / 4.0).epsilon(0.03));
    }
}

TEST_CASE("pl_scrambler: descrambling undoes scrambling for any code and length") {
    CHECK(rc::check([] {
        const PlScrambler scrambler(*rc::gen::inRange(0, 262142));
        std::vector<dsp::Iq> symbols(*rc::gen::inRange<std::size_t>(0, 33193), dsp::Iq{0.25F, -0.5F});
        scrambler.scramble(symbols);
        for (std::size_t i = 0; i < symbols.size(); ++i) {
            RC_ASSERT(symbols[i] * scrambler.descrambling()[i] == dsp::Iq(0.25F, -0.5F));
        }
    }));
}

TEST_CASE("pl_scrambler: a root names the code whose first sequence it begins") {
    const auto x = internal::gold_sequences().x;
    for (const int code : {0, 1, 8, 4711, 262142}) {
        CAPTURE(code);
        std::uint32_t root = 0;
        for (std::size_t i = 0; i < 18; ++i)
            root |= (x[(static_cast<std::size_t>(code) + i) % internal::kGoldPeriod] & 1U) << i;
        CHECK(gold_code_of_root(root) == code);
    }
    CHECK(gold_code_of_root(1) == 0);
    CHECK_FALSE(gold_code_of_root(0));
    CHECK_FALSE(gold_code_of_root(1 << 18));
}

TEST_CASE("pl_scrambler: gold codes that do not exist are refused") {
    CHECK_THROWS_AS(PlScrambler(-1), Dvbs2Error);
    CHECK_THROWS_AS(PlScrambler(262142), Dvbs2Error);
}

}  // namespace
}  // namespace tidemill::dvbs2
