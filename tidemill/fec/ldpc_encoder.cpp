#include "tidemill/fec/ldpc_encoder.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <vector>

#include "tidemill/fec/bit_packing.hpp"
#include "tidemill/fec/internal/ldpc_layers.hpp"

namespace tidemill::fec {
namespace {

using Lanes = std::array<std::uint8_t, kCirculantSize>;

// Each block of 360 bits twice in a row, so that any rotation of it is one contiguous piece.
std::vector<std::uint8_t> doubled_blocks(std::span<const std::uint8_t> information) {
    std::vector<std::uint8_t> bits(8 * information.size());
    unpack_bits(information, bits);
    std::vector<std::uint8_t> doubled(2 * bits.size());
    for (std::size_t block = 0; block < bits.size(); block += kCirculantSize) {
        const auto source = bits.begin() + static_cast<std::ptrdiff_t>(block);
        const auto target = doubled.begin() + static_cast<std::ptrdiff_t>(2 * block);
        std::copy_n(source, kCirculantSize, target);
        std::copy_n(source, kCirculantSize, target + kCirculantSize);
    }
    return doubled;
}

}  // namespace

LdpcEncoder::LdpcEncoder(const Dvbs2Code& code) : code_(code), layers_(std::make_shared<LdpcLayers>(code)) {}

void LdpcEncoder::encode(std::span<const std::uint8_t> information, std::span<std::uint8_t> fecframe) const {
    assert(information.size() == static_cast<std::size_t>(code_.k_ldpc / 8));
    assert(fecframe.size() == static_cast<std::size_t>(code_.n / 8));
    const std::vector<std::uint8_t> blocks = doubled_blocks(information);
    const auto q = static_cast<std::size_t>(layers_->size());
    // Row i ends as the sum over layers 0 to i: parity bits follow each other across layers first.
    std::vector<Lanes> sums(q, Lanes{});
    for (std::size_t layer = 0; layer < q; ++layer) {
        Lanes& sum = sums[layer];
        if (layer > 0) sum = sums[layer - 1];
        for (const Circulant& circulant : (*layers_)[static_cast<int>(layer)]) {
            const std::uint8_t* rotated =
                &blocks[2 * kCirculantSize * circulant.column + kCirculantSize - circulant.shift];
            for (std::size_t lane = 0; lane < kCirculantSize; ++lane) sum[lane] ^= rotated[lane];
        }
    }
    std::vector<std::uint8_t> parity(q * kCirculantSize);
    std::uint8_t earlier_lanes = 0;
    for (std::size_t lane = 0; lane < kCirculantSize; ++lane) {
        for (std::size_t layer = 0; layer < q; ++layer) {
            parity[lane * q + layer] = sums[layer][lane] ^ earlier_lanes;
        }
        earlier_lanes ^= sums[q - 1][lane];
    }
    std::ranges::copy(information, fecframe.begin());
    pack_bits(parity, fecframe.subspan(information.size()));
}

}  // namespace tidemill::fec
