#include "tidemill/fec/internal/ldpc_layers.hpp"

#include <algorithm>

#include "tidemill/fec/internal/ldpc_tables.hpp"

namespace tidemill::fec {

// Bit m of row g adds to the parity addresses (x + m q) mod (360 q), EN 302 307-1, 5.3.2.1. Written as
// x = layer + q shift, that is lane (shift + m) mod 360 of the layer, whatever m.
LdpcLayers::LdpcLayers(const Dvbs2Code& code) {
    const LdpcTable& table = ldpc_tables()[static_cast<std::size_t>(&dvbs2_code(code.frame_size, code.rate) -
                                                                    dvbs2_codes().data())];
    const auto q = static_cast<std::uint16_t>(code.q());
    std::vector<std::vector<Circulant>> layers(q);
    std::size_t next = 0;
    for (std::uint16_t column = 0; next < table.addresses.size(); ++column) {
        const int degree = column < table.heavy_rows ? table.heavy_degree : 3;
        for (const std::uint16_t address : table.addresses.subspan(next, static_cast<std::size_t>(degree))) {
            layers[address % q].push_back({column, static_cast<std::uint16_t>(address / q)});
        }
        next += static_cast<std::size_t>(degree);
    }
    first_.push_back(0);
    for (const auto& layer : layers) {
        circulants_.insert(circulants_.end(), layer.begin(), layer.end());
        first_.push_back(circulants_.size());
    }
}

std::span<const Circulant> LdpcLayers::operator[](int layer) const {
    const auto index = static_cast<std::size_t>(layer);
    return std::span(circulants_).subspan(first_[index], first_[index + 1] - first_[index]);
}

}  // namespace tidemill::fec
