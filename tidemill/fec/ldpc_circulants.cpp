#include "tidemill/fec/ldpc_circulants.hpp"

#include <algorithm>

#include "tidemill/fec/internal/ldpc_layers.hpp"

namespace tidemill::fec {
namespace {

// The information circulants of a layer and the two of the parity accumulator: check j holds parity bits j
// and j - 1, which in layer 0 is the lane before of the last parity column.
LdpcCheckLayer split(const Dvbs2Code& code, const LdpcLayers& layers, int layer) {
    const auto parity_column = [&](int index) {
        return static_cast<std::uint16_t>(code.k_ldpc / kCirculantSize + index);
    };
    std::vector<Circulant> all(layers[layer].begin(), layers[layer].end());
    all.push_back({parity_column(layer), 0});
    if (layer > 0) all.push_back({parity_column(layer - 1), 0});
    LdpcCheckLayer result;
    std::vector<Circulant> again;
    for (const Circulant& circulant : all) {
        const auto uses = std::ranges::count(all, circulant.column, &Circulant::column);
        const auto seen = std::ranges::count(result.shared, circulant.column, &Circulant::column);
        (uses == 1 ? result.own : seen == 0 ? result.shared : again).push_back(circulant);
    }
    // A column's second use far behind its first: an addition to it does not wait for what was just stored.
    result.shared.insert(result.shared.end(), again.begin(), again.end());
    if (layer == 0) result.own.push_back({parity_column(code.q() - 1), 1});
    return result;
}

}  // namespace

std::vector<LdpcCheckLayer> ldpc_check_layers(const Dvbs2Code& code) {
    const LdpcLayers information(code);
    std::vector<LdpcCheckLayer> layers;
    for (int layer = 0; layer < code.q(); ++layer) layers.push_back(split(code, information, layer));
    return layers;
}

}  // namespace tidemill::fec
