#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "tidemill/fec/bit_packing.hpp"
#include "tidemill/fec/internal/ldpc_kernel.hpp"
#include "tidemill/fec/llr.hpp"
#include "tidemill/fec/testing/ldpc_graph.hpp"

namespace tidemill::fec {

/// Min-sum one check after the other, in 8-bit integers: what a decoder without vectors does. For
/// benchmarks.
class ScalarLdpcDecoder {
  public:
    explicit ScalarLdpcDecoder(const Dvbs2Code& code)
        : code_(code), graph_(code), messages_(graph_.bits.size()) {}

    void decode(std::span<const Llr> llrs, int iterations, std::span<std::uint8_t> information) {
        posterior_.assign(llrs.begin(), llrs.end());
        std::ranges::fill(messages_, std::int8_t{0});
        for (int i = 0; i < iterations; ++i) {
            for (std::size_t check = 0; check < graph_.checks(); ++check)
                update(graph_.first[check], graph_.first[check + 1]);
        }
        std::vector<std::uint8_t> bits(static_cast<std::size_t>(code_.k_ldpc));
        for (std::size_t bit = 0; bit < bits.size(); ++bit) bits[bit] = posterior_[bit] < 0;
        pack_bits(bits, information);
    }

  private:
    void update(std::size_t begin, std::size_t end) {
        int min1 = kLdpcMagnitudeCap;
        int min2 = kLdpcMagnitudeCap;
        bool negative = false;
        for (std::size_t e = begin; e < end; ++e) {
            const int extrinsic = std::clamp(posterior_[graph_.bits[e]] - messages_[e], -128, 127);
            const int magnitude = std::abs(extrinsic);
            min2 = std::min(min2, std::max(min1, magnitude));
            min1 = std::min(min1, magnitude);
            negative ^= extrinsic < 0;
        }
        for (std::size_t e = begin; e < end; ++e) {
            const int extrinsic = std::clamp(posterior_[graph_.bits[e]] - messages_[e], -128, 127);
            const int magnitude = std::max((std::abs(extrinsic) == min1 ? min2 : min1) - kLdpcOffset, 0);
            const int message = negative != (extrinsic < 0) ? -magnitude : magnitude;
            messages_[e] = static_cast<std::int8_t>(message);
            posterior_[graph_.bits[e]] = static_cast<std::int8_t>(std::clamp(extrinsic + message, -128, 127));
        }
    }

    Dvbs2Code code_;
    LdpcGraph graph_;
    std::vector<std::int8_t> messages_;
    std::vector<std::int8_t> posterior_;
};

}  // namespace tidemill::fec
