#include "tidemill/fec/internal/ldpc_schedule.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/fec/ldpc_circulants.hpp"
#include "tidemill/fec/ldpc_settings.hpp"

namespace tidemill::fec {

namespace {

LdpcEdge::Places places_from(std::size_t start) {
    constexpr std::size_t kLanes = kCirculantSize;
    LdpcEdge::Places places;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::size_t place = start + i * kPlacedLanes;
        places[i] = static_cast<std::uint16_t>(place < kLanes ? place : place - kLanes);
    }
    return places;
}

}  // namespace

LdpcCorrections::LdpcCorrections(double scale) {
    for (std::size_t x = 0; x < by_x.size(); ++x)
        by_x[x] = static_cast<std::uint8_t>(
            std::round(scale * std::log1p(std::exp(-static_cast<double>(x) / scale))));
}

LdpcSchedule::LdpcSchedule(const Dvbs2Code& code) : turns(static_cast<std::size_t>(code.n / kCirculantSize)) {
    double scale = llr_scale(code);
    for (LdpcCorrections& each : corrections) {
        each = LdpcCorrections(scale);
        scale /= 2;
    }
    const auto append = [this](const Circulant& circulant) {
        const auto start = static_cast<std::uint32_t>((kCirculantSize - circulant.shift) % kCirculantSize);
        edges.push_back({static_cast<std::uint32_t>(circulant.column * kColumnStride), start, start, {}, {}});
    };
    for (const LdpcCheckLayer& layer : ldpc_check_layers(code)) {
        layers.push_back({static_cast<std::uint32_t>(edges.size()),
                          static_cast<std::uint32_t>(layer.own.size()),
                          static_cast<std::uint32_t>(layer.shared.size())});
        std::ranges::for_each(layer.own, append);
        std::ranges::for_each(layer.shared, append);
        most_shared_edges = std::max(most_shared_edges, layers.back().shared_edges);
    }
    open_edge = layers.front().own_edges - 1;
    follow_turns();
    // To work them out costs the inner loops more than to read them.
    for (LdpcEdge& edge : edges) {
        edge.places = places_from(edge.start);
        edge.rest_places = places_from(edge.rest_start);
    }
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
