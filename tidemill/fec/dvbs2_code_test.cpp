#include "tidemill/fec/dvbs2_code.hpp"

#include <set>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "tidemill/fec/fec_error.hpp"
#include "tidemill/fec/internal/ldpc_layers.hpp"
#include "tidemill/fec/internal/ldpc_tables.hpp"

using namespace tidemill::fec;

TEST_CASE("the standard has 21 codes, whose sizes fit together") {
    CHECK(dvbs2_codes().size() == 21);
    for (const Dvbs2Code& code : dvbs2_codes()) {
        CAPTURE(name(code.frame_size));
        CAPTURE(name(code.rate));
        CHECK(code.n == (code.frame_size == FrameSize::normal ? 64800 : 16200));
        CHECK(code.q() * kCirculantSize == code.ldpc_parity());
        const int field_bits = code.frame_size == FrameSize::normal ? 16 : 14;
        CHECK(code.bch_parity() == field_bits * code.bch_correctable);
        CHECK(code.k_bch % 8 == 0);
        CHECK(dvbs2_code(code.frame_size, code.rate) == code);
    }
}

TEST_CASE("the name of a normal code is its true rate") {
    for (const Dvbs2Code& code : dvbs2_codes().first(11)) {
        const std::string_view text = name(code.rate);
        const auto slash = text.find('/');
        const int numerator = text[0] - '0';
        const int denominator = std::stoi(std::string(text.substr(slash + 1)));
        CHECK(code.k_ldpc * denominator == code.n * numerator);
    }
}

TEST_CASE("names lead back to their rates and nothing else does") {
    for (const Dvbs2Code& code : dvbs2_codes()) CHECK(code_rate_from_name(name(code.rate)) == code.rate);
    CHECK_FALSE(code_rate_from_name("7/8"));
    CHECK_FALSE(code_rate_from_name(""));
}

TEST_CASE("short 9/10 does not exist") {
    CHECK_THROWS_AS(dvbs2_code(FrameSize::short_, CodeRate::r9_10), FecError);
}

TEST_CASE("the LDPC tables have a row for every 360 information bits and no address twice in a row") {
    for (std::size_t i = 0; i < dvbs2_codes().size(); ++i) {
        const Dvbs2Code& code = dvbs2_codes()[i];
        const LdpcTable& table = ldpc_tables()[i];
        const int rows = code.k_ldpc / kCirculantSize;
        CHECK(table.addresses.size() == static_cast<std::size_t>(table.heavy_rows * table.heavy_degree +
                                                                 3 * (rows - table.heavy_rows)));
        auto next = table.addresses.begin();
        for (int row = 0; row < rows; ++row) {
            const int degree = row < table.heavy_rows ? table.heavy_degree : 3;
            const std::set<int> distinct(next, next + degree);
            CHECK(static_cast<int>(distinct.size()) == degree);
            CHECK(*distinct.rbegin() < code.ldpc_parity());
            next += degree;
        }
    }
}

TEST_CASE("every check of a normal code takes in the same number of information bits") {
    // Check degrees less the two of the accumulator, as the standard's tables imply them.
    const std::size_t degrees[] = {2, 3, 4, 5, 9, 8, 12, 16, 20, 25, 28};
    for (std::size_t i = 0; i < 11; ++i) {
        const LdpcLayers layers(dvbs2_codes()[i]);
        CHECK(layers.size() == dvbs2_codes()[i].q());
        for (int layer = 0; layer < layers.size(); ++layer) CHECK(layers[layer].size() == degrees[i]);
    }
}
