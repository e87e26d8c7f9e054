#include "tidemill/dvbs2/sync/internal/damaged_header.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/standard/testing/test_frames.hpp"

namespace tidemill::dvbs2::internal {
namespace {

constexpr double kFrequency = 0.02;

using Header = std::array<Iq, kHeaderSymbols>;

Header received(int code, double esn0_db, std::mt19937& random) {
    const auto sent = header_symbols(code);
    const auto symbols =
        transmit({sent.begin(), sent.end()}, {.esn0_db = esn0_db, .frequency = kFrequency}, random);
    Header header;
    std::ranges::copy(symbols, header.begin());
    return header;
}

// The header without the symbols from `first` on.
Header without(Header header, std::size_t first, std::size_t count) {
    std::fill_n(header.begin() + static_cast<std::ptrdiff_t>(first), count, Iq{});
    return header;
}

TEST_CASE("header remains: a header without 20 neighbouring symbols is read as a whole one") {
    constexpr std::size_t kErased = 20;
    std::mt19937 random(1);
    for (int code = 0; code < 128; ++code) {
        if (!Pls::from_code(code).is_defined()) continue;
        const Header header = received(code, 6, random);
        for (std::size_t first = 0; first <= kHeaderSymbols - kErased; first += 5) {
            const DamagedHeader remains(without(header, first, kErased), kFrequency);
            CAPTURE(code);
            CAPTURE(first);
            CHECK(remains.best() == code);
            CHECK(remains.is_clear());
            CHECK(remains.quality() > 0.6F);
        }
    }
}

TEST_CASE("header remains: what tells less is not clear, and excludes no code that was sent") {
    std::mt19937 random(2);
    for (const double esn0_db : {-2.35, 1.0, 6.0, 20.0}) {
        for (int code = 0; code < 128; ++code) {
            if (!Pls::from_code(code).is_defined()) continue;
            for (const std::size_t erased : {60U, 70U, 80U, 90U}) {
                const std::size_t first = random() % (kHeaderSymbols - erased + 1);
                const DamagedHeader remains(without(received(code, esn0_db, random), first, erased),
                                            kFrequency);
                CAPTURE(esn0_db);
                CAPTURE(code);
                CAPTURE(erased);
                CHECK(remains.may_be(code));
                if (remains.is_clear()) CHECK(remains.best() == code);
                if (erased > 74) CHECK_FALSE(remains.is_clear());
            }
        }
    }
}

TEST_CASE("header remains: noise, nothing, and what is no number are clear of no code") {
    std::mt19937 random(3);
    for (int i = 0; i < 2000; ++i) {
        const auto symbols = noise(kHeaderSymbols, 0, random);
        Header header;
        std::ranges::copy(symbols, header.begin());
        CHECK_FALSE(DamagedHeader(header, kFrequency).is_clear());
        CHECK_FALSE(DamagedHeader(without(header, 0, 45), kFrequency).is_clear());
    }
    CHECK_FALSE(DamagedHeader(Header{}, kFrequency).is_clear());
    for (const float strange :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        Header header = received(20, 20, random);
        header[40] = {strange, 0};
        CHECK_FALSE(DamagedHeader(header, kFrequency).is_clear());
    }
}

}  // namespace
}  // namespace tidemill::dvbs2::internal
