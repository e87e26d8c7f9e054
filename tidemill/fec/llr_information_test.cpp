#include "tidemill/fec/llr_information.hpp"

#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/fec/internal/noisy_llrs.hpp"
#include "tidemill/fec/ldpc_decoder.hpp"

namespace tidemill::fec {

TEST_CASE("llr information: nothing tells nothing, certainty everything, and noisy QPSK its capacity") {
    const Dvbs2Code& code = dvbs2_code(FrameSize::normal, CodeRate::r1_2);
    const auto n = static_cast<std::size_t>(code.n);
    CHECK(llr_information(code, std::vector<Llr>(n, 0)) == 0);
    CHECK(llr_information(code, std::vector<Llr>(n, -127)) == doctest::Approx(1).epsilon(1e-6));
    std::mt19937 random(1);
    // Binary antipodal signals at Es/N0 of 0.187 dB a symbol of two bits carry half a bit each.
    CHECK(llr_information(code, noisy_llrs(code, 0.187, random)) == doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("llr information: in all codes noise tells too little, and what the decoder brings back enough") {
    std::mt19937 random(2);
    for (const Dvbs2Code& code : dvbs2_codes()) {
        CAPTURE(code.n);
        CAPTURE(code.k_bch);
        CHECK(tell_too_little(code, std::vector<Llr>(static_cast<std::size_t>(code.n), 1)));
        LdpcDecoder decoder(code);
        std::vector<std::uint8_t> information(static_cast<std::size_t>(code.k_ldpc) / 8);
        int decoded = 0;
        // From where the decoder begins to succeed.
        for (double esn0_db = -4; decoded < 10 && esn0_db < 9; esn0_db += 0.2) {
            const std::vector<Llr> llrs = noisy_llrs(code, esn0_db, random);
            if (!decoder.decode(llrs, information).converged) continue;
            ++decoded;
            CHECK_FALSE(tell_too_little(code, llrs));
        }
        CHECK(decoded == 10);
    }
}

}  // namespace tidemill::fec
