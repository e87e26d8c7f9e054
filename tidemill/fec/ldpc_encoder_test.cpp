#include "tidemill/fec/ldpc_encoder.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/fec/bit_packing.hpp"
#include "tidemill/fec/internal/ldpc_tables.hpp"

using namespace tidemill::fec;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes random_bytes(int bits, std::mt19937& random) {
    Bytes bytes(static_cast<std::size_t>(bits / 8));
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
    return bytes;
}

// The accumulation as EN 302 307-1, 5.3.2.1 words it, bit by bit.
Bytes textbook_parity(const Dvbs2Code& code, const LdpcTable& table, const Bytes& information) {
    Bytes bits(8 * information.size());
    unpack_bits(information, bits);
    Bytes parity(static_cast<std::size_t>(code.ldpc_parity()));
    auto row = table.addresses.begin();
    for (int first = 0; first < code.k_ldpc; first += kCirculantSize) {
        const int degree = first / kCirculantSize < table.heavy_rows ? table.heavy_degree : 3;
        for (int m = 0; m < kCirculantSize; ++m) {
            for (int edge = 0; edge < degree; ++edge) {
                const int address = (row[edge] + m * code.q()) % code.ldpc_parity();
                parity[static_cast<std::size_t>(address)] ^=
                    bits[static_cast<std::size_t>(first) + static_cast<std::size_t>(m)];
            }
        }
        row += degree;
    }
    for (std::size_t j = 1; j < parity.size(); ++j) parity[j] ^= parity[j - 1];
    Bytes packed(parity.size() / 8);
    pack_bits(parity, packed);
    return packed;
}

}  // namespace

TEST_CASE("for every code the parity is what the standard's accumulators give") {
    std::mt19937 random(5);
    for (std::size_t i = 0; i < dvbs2_codes().size(); ++i) {
        const Dvbs2Code& code = dvbs2_codes()[i];
        CAPTURE(name(code.frame_size));
        CAPTURE(name(code.rate));
        const Bytes information = random_bytes(code.k_ldpc, random);
        Bytes fecframe(static_cast<std::size_t>(code.n / 8));
        LdpcEncoder(code).encode(information, fecframe);
        const auto parity = fecframe.begin() + code.k_ldpc / 8;
        CHECK(Bytes(fecframe.begin(), parity) == information);
        CHECK(Bytes(parity, fecframe.end()) == textbook_parity(code, ldpc_tables()[i], information));
    }
}

TEST_CASE("the sum of two FECFRAMEs is the FECFRAME of the sum") {
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r3_5);
    const LdpcEncoder encoder(code);
    std::mt19937 random(6);
    const Bytes a = random_bytes(code.k_ldpc, random);
    const Bytes b = random_bytes(code.k_ldpc, random);
    const auto sum = [](Bytes x, const Bytes& y) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] ^= y[i];
        return x;
    };
    const auto encoded = [&](const Bytes& information) {
        Bytes fecframe(static_cast<std::size_t>(code.n / 8));
        encoder.encode(information, fecframe);
        return fecframe;
    };
    CHECK(encoded(sum(a, b)) == sum(encoded(a), encoded(b)));
}
