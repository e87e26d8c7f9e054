#include "tidemill/fec/internal/ldpc_schedule.hpp"

#include <algorithm>

#include "tidemill/fec/internal/ldpc_layers.hpp"

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

LdpcSchedule::LdpcSchedule(const Dvbs2Code& code) : turns(static_cast<std::size_t>(code.n / kCirculantSize)) {
    const LdpcLayers information(code);
    const auto append = [this](const Circulant& circulant) {
        const auto start = static_cast<std::uint32_t>((kCirculantSize - circulant.shift) % kCirculantSize);
        edges.push_back({static_cast<std::uint32_t>(circulant.column * kColumnStride), start, start});
    };
    for (int index = 0; index < code.q(); ++index) {
        const SplitLayer layer = split(code, information, index);
        layers.push_back({static_cast<std::uint32_t>(edges.size()),
                          static_cast<std::uint32_t>(layer.own.size()),
                          static_cast<std::uint32_t>(layer.shared.size())});
        std::ranges::for_each(layer.own, append);
        std::ranges::for_each(layer.shared, append);
        most_shared_edges = std::max(most_shared_edges, layers.back().shared_edges);
    }
    open_edge = layers.front().own_edges - 1;
    follow_turns();
}

// From starts in columns as they are numbered to starts in columns as they lie: a sweep finds them as the one
// before has left them.
void LdpcSchedule::follow_turns() {
    const auto turned = [](std::uint32_t start, std::uint32_t turn) {
        return start < turn ? start + static_cast<std::uint32_t>(kCirculantSize) - turn : start - turn;
    };
    for (const LdpcLayer& layer : layers)
        for (std::uint32_t e = layer.first_edge; e < layer.first_edge + layer.own_edges; ++e)
            turns[edges[e].column / kColumnStride] = edges[e].start;
    std::vector<std::uint32_t> now = turns;
    for (const LdpcLayer& layer : layers) {
        const std::uint32_t shared = layer.first_edge + layer.own_edges;
        for (std::uint32_t e = layer.first_edge; e < shared + layer.shared_edges; ++e) {
            const std::uint32_t column = edges[e].column / kColumnStride;
            const std::uint32_t numbered = edges[e].start;
            edges[e].start = turned(numbered, now[column]);
            edges[e].rest_start = turned(numbered, turns[column]);
            if (e < shared) now[column] = numbered;
        }
    }
}

}  // namespace tidemill::fec
