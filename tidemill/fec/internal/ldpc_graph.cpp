#include "tidemill/fec/internal/ldpc_graph.hpp"

#include "tidemill/fec/internal/ldpc_layers.hpp"

namespace tidemill::fec {

LdpcGraph::LdpcGraph(const Dvbs2Code& code) {
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

}  // namespace tidemill::fec
