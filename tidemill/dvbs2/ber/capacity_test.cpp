#include "tidemill/dvbs2/ber/capacity.hpp"

#include <cmath>

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {

TEST_CASE("capacity: what is known of constellations, at the ends and between") {
    const Modcod& qpsk = *find_modcod(4);
    CHECK(mutual_information_bits(qpsk, 30) == doctest::Approx(2).epsilon(1e-6));
    // Far below the noise the points do not matter: Shannon's log2(1 + Es/N0).
    CHECK(mutual_information_bits(qpsk, -15) ==
          doctest::Approx(std::log2(1 + std::pow(10, -1.5))).epsilon(0.01));
    // Binary signalling at rate 1/2 needs Eb/N0 = 0.187 dB, which for QPSK is Es/N0.
    CHECK(capacity_esn0_db(qpsk, 1.0) == doctest::Approx(0.187).epsilon(0.01));
    CHECK(mutual_information_bits(*find_modcod(24), 40) == doctest::Approx(5).epsilon(1e-6));
    // Ungerboeck 1982: 8PSK carries two bits from 5.9 dB on.
    CHECK(capacity_esn0_db(*find_modcod(13), 2.0) == doctest::Approx(5.77).epsilon(0.03));
}

}  // namespace tidemill::dvbs2
