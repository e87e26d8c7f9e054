#include "tidemill/fec/sum_product_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/fec/bit_packing.hpp"
#include "tidemill/fec/ldpc_encoder.hpp"
#include "tidemill/fec/testing/ldpc_graph.hpp"

using namespace tidemill::fec;

namespace {

struct NoisyFrame {
    std::vector<std::uint8_t> information;
    std::vector<float> llrs;
};

// QPSK over white noise.
NoisyFrame noisy_frame(const Dvbs2Code& code, double esn0_db, std::mt19937& random) {
    NoisyFrame frame{std::vector<std::uint8_t>(static_cast<std::size_t>(code.k_ldpc / 8)), {}};
    std::ranges::generate(frame.information, [&] { return static_cast<std::uint8_t>(random()); });
    std::vector<std::uint8_t> fecframe(static_cast<std::size_t>(code.n / 8)), bits(8 * fecframe.size());
    LdpcEncoder(code).encode(frame.information, fecframe);
    unpack_bits(fecframe, bits);
    const double variance = std::pow(10.0, -esn0_db / 10);
    std::normal_distribution<double> noise(0, std::sqrt(variance));
    for (const std::uint8_t bit : bits)
        frame.llrs.push_back(static_cast<float>(2 * ((bit ? -1 : 1) + noise(random)) / variance));
    return frame;
}

}  // namespace

TEST_CASE("sum-product: frames at the threshold come out whole, for every code") {
    constexpr double kThresholdDb[] = {-2.35, -1.24, -0.30, 1.00, 2.23, 3.10, 4.03, 4.68, 5.18, 6.20, 6.42};
    std::mt19937 random(31);
    for (const Dvbs2Code& code : dvbs2_codes()) {
        CAPTURE(name(code.frame_size));
        CAPTURE(name(code.rate));
        const double above_db = code.frame_size == FrameSize::short_ ? 0.5 : 0.1;
        const NoisyFrame frame =
            noisy_frame(code, kThresholdDb[static_cast<std::size_t>(code.rate)] + above_db, random);
        std::vector<std::uint8_t> information(frame.information.size());
        const LdpcResult result = SumProductDecoder(code).decode(frame.llrs, information);
        CHECK(result.converged);
        CHECK(result.iterations > 3);
        CHECK(information == frame.information);
    }
}

TEST_CASE("sum-product: one sweep over a tree of checks gives the exact probabilities") {
    // All bits but those of one check are unknown, so that this check alone says anything of its first bit.
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r1_2);
    const LdpcGraph graph(code);
    const std::vector<std::uint32_t> bits(graph.bits.begin() + static_cast<std::ptrdiff_t>(graph.first[500]),
                                          graph.bits.begin() + static_cast<std::ptrdiff_t>(graph.first[501]));
    std::vector<float> llrs(static_cast<std::size_t>(code.n));
    double product = 1;
    for (std::size_t i = 1; i < bits.size(); ++i) {
        const double llr = 2.0 + 0.25 * static_cast<double>(i);
        llrs[bits[i]] = static_cast<float>(-llr);
        product *= std::tanh(-llr / 2);
    }
    REQUIRE(bits[0] < static_cast<std::uint32_t>(code.k_ldpc));
    std::vector<std::uint8_t> information(static_cast<std::size_t>(code.k_ldpc / 8));
    for (const double own : {-0.01, 0.01}) {
        CAPTURE(own);
        llrs[bits[0]] = static_cast<float>(-2 * std::atanh(product) + own);
        SumProductDecoder(code, 1).decode(llrs, information);
        const bool is_one = (information[bits[0] / 8] >> (7 - bits[0] % 8) & 1U) != 0;
        CHECK(is_one == (own < 0));
    }
}

TEST_CASE("sum-product: hopeless frames end after as many iterations as were asked for") {
    const Dvbs2Code& code = dvbs2_code(FrameSize::short_, CodeRate::r3_4);
    std::mt19937 random(32);
    const NoisyFrame frame = noisy_frame(code, 0.0, random);
    std::vector<std::uint8_t> information(frame.information.size());
    CHECK(SumProductDecoder(code, 7).decode(frame.llrs, information) == LdpcResult{7, false});
}
