#include "tidemill/fec/detail_ldpc_schedule.hpp"

#include <algorithm>

#include "tidemill/fec/detail_ldpc_layers.hpp"

namespace tidemill::fec {
namespace {

struct SplitLayer {
    std::vector<Circulant> own;
    std::vector<Circulant> shared;
};

// The information circulants of a layer and the two of the parity accumulator: check j holds parity bits j
// and j - 1, which in layer 0 is the lane before of the last parity column.
SplitLayer split(const Dvbs2Code& code, const LdpcLayers& layers, int layer) {
    const auto parity_column = [&](int index) {
        return static_cast<std::uint16_t>(code.k_ldpc / kCirculantSize + index);
    };
    std::vector<Circulant> all(layers[layer].begin(), layers[layer].end());
    all.push_back({parity_column(layer), 0});
    if (layer > 0) all.push_back({parity_column(layer - 1), 0});
    SplitLayer result;
    for (const Circulant& circulant : all) {
        const auto uses = std::ranges::count(all, circulant.column, &Circulant::column);
        (uses == 1 ? result.own : result.shared).push_back(circulant);
    }
    if (layer == 0) result.own.push_back({parity_column(code.q() - 1), 1});
    return result;
}

}  // namespace

LdpcSchedule::LdpcSchedule(const Dvbs2Code& code)
    : columns(static_cast<std::uint32_t>(code.n / kCirculantSize)) {
    const LdpcLayers information(code);
    const auto append = [this](const Circulant& circulant) {
        edges.push_back({static_cast<std::uint32_t>(circulant.column * kColumnStride),
                         static_cast<std::uint32_t>((kCirculantSize - circulant.shift) % kCirculantSize)});
    };
    for (int index = 0; index < code.q(); ++index) {
        const SplitLayer layer = split(code, information, index);
        layers.push_back({static_cast<std::uint32_t>(edges.size()),
                          static_cast<std::uint32_t>(layer.own.size()),
                          static_cast<std::uint32_t>(layer.shared.size())});
        std::ranges::for_each(layer.own, append);
        std::ranges::for_each(layer.shared, append);
        most_edges = std::max(most_edges, layers.back().own_edges + layers.back().shared_edges);
    }
    open_edge = layers.front().own_edges - 1;
}

}  // namespace tidemill::fec
