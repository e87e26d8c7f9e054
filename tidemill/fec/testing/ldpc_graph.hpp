#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/internal/ldpc_layers.hpp"

namespace tidemill::fec {

/// The bits of every parity check, check by check in the order of the layers: those of check i are
/// bits[first[i]] to bits[first[i + 1] - 1], information before parity.
struct LdpcGraph {
    explicit LdpcGraph(const Dvbs2Code& code) {
        const LdpcLayers layers(code);
        for (int layer = 0; layer < code.q(); ++layer) {
            for (int lane = 0; lane < kCirculantSize; ++lane) {
                for (const Circulant& circulant : layers[layer]) {
                    const int bit = (lane - circulant.shift + kCirculantSize) % kCirculantSize;
                    bits.push_back(static_cast<std::uint32_t>(kCirculantSize * circulant.column + bit));
                }
                const auto parity = static_cast<std::uint32_t>(code.k_ldpc + layer + code.q() * lane);
                bits.push_back(parity);
                if (layer + lane > 0) bits.push_back(parity - 1);
                first.push_back(bits.size());
            }
        }
    }

    std::size_t checks() const { return first.size() - 1; }

    std::vector<std::uint32_t> bits;
    std::vector<std::size_t> first{0};
};

}  // namespace tidemill::fec
