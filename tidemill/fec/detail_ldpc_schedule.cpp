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
    std::vector<SplitLayer> split_layers;
    for (int layer = 0; layer < code.q(); ++layer) split_layers.push_back(split(code, information, layer));

    // A first pass finds how a whole sweep leaves the columns: that is also how the next one meets them.
    std::vector<std::uint16_t> shift(columns);
    for (const SplitLayer& layer : split_layers) {
        for (const Circulant& own : layer.own) shift[own.column] = own.shift;
    }
    const auto edge = [&](const Circulant& circulant) {
        const int rotation = (shift[circulant.column] - circulant.shift + kCirculantSize) % kCirculantSize;
        const auto column = static_cast<std::uint32_t>(circulant.column * kColumnStride);
        return LdpcEdge{column, column + static_cast<std::uint32_t>(rotation)};
    };
    for (const SplitLayer& layer : split_layers) {
        layers.push_back({static_cast<std::uint32_t>(edges.size()),
                          static_cast<std::uint32_t>(layer.own.size()),
                          static_cast<std::uint32_t>(layer.shared.size()),
                          static_cast<std::uint32_t>(shared_columns.size()), 0});
        for (const Circulant& own : layer.own) {
            edges.push_back(edge(own));
            shift[own.column] = own.shift;
        }
        for (std::uint32_t i = 0; i < layer.shared.size(); ++i) {
            edges.push_back(edge(layer.shared[i]));
            if (i == 0 || layer.shared[i].column != layer.shared[i - 1].column) {
                shared_columns.push_back({edges.back().column, i, 0});
                ++layers.back().shared_columns;
            }
            ++shared_columns.back().count;
        }
        bit0_after.push_back(shift);
        most_edges = std::max(most_edges, layers.back().own_edges + layers.back().shared_edges);
        most_shared_edges = std::max(most_shared_edges, layers.back().shared_edges);
    }
    open_edge = layers.front().own_edges - 1;
}

}  // namespace tidemill::fec
