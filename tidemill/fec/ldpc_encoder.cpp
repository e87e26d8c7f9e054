#include "tidemill/fec/ldpc_encoder.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/fec/internal/big_endian.hpp"
#include "tidemill/fec/internal/ldpc_layers.hpp"

namespace tidemill::fec {
namespace {

constexpr std::size_t kLaneBytes = kCirculantSize / 8;
constexpr std::size_t kWordBits = 64;
constexpr std::size_t kWords = (kCirculantSize + kWordBits - 1) / kWordBits;

/// One bit for each lane, the first one in the first word's highest bit; what follows the last one is
/// anything.
using Lanes = std::array<std::uint64_t, kWords>;

/// The lanes twice in a row, so that any rotation of them is one contiguous piece.
using DoubledLanes = std::array<std::uint64_t, 2 * kWords>;

std::vector<DoubledLanes> doubled_blocks(std::span<const std::uint8_t> information) {
    std::vector<DoubledLanes> blocks(information.size() / kLaneBytes);
    std::array<std::uint8_t, sizeof(DoubledLanes)> twice{};
    for (DoubledLanes& block : blocks) {
        std::copy_n(information.begin(), kLaneBytes, twice.begin());
        std::copy_n(information.begin(), kLaneBytes, twice.begin() + kLaneBytes);
        information = information.subspan(kLaneBytes);
        for (std::size_t w = 0; w < block.size(); ++w) block[w] = big_endian(&twice[sizeof(block[0]) * w]);
    }
    return blocks;
}

void add_rotated(const DoubledLanes& block, std::size_t from, Lanes& sum) {
    const std::uint64_t* first = &block[from / kWordBits];
    const std::size_t shift = from % kWordBits, back = kWordBits - 1 - shift;
    for (std::size_t w = 0; w < kWords; ++w) sum[w] ^= first[w] << shift | first[w + 1] >> 1 >> back;
}

/// For each lane the sum of the lanes before it.
Lanes sums_before(const Lanes& lanes) {
    Lanes sums;
    std::uint64_t before = 0;  // all ones or zeros
    for (std::size_t w = 0; w < kWords; ++w) {
        std::uint64_t sum = lanes[w];  // up to each lane of the word
        for (std::size_t step = 1; step < kWordBits; step *= 2) sum ^= sum >> step;
        sum ^= before;
        sums[w] = sum >> 1 | before << (kWordBits - 1);
        before = 0 - (sum & 1);
    }
    return sums;
}

/// A matrix of eight by eight bits, row behind row from the highest bit on, with rows and columns exchanged:
/// first within squares of two, then of four, then of eight.
std::uint64_t transposed(std::uint64_t rows) {
    const auto exchange = [&rows](unsigned distance, std::uint64_t lower_ones) {
        const std::uint64_t differing = (rows ^ rows >> distance) & lower_ones;
        rows ^= differing ^ differing << distance;
    };
    exchange(7, 0x00AA00AA00AA00AA);
    exchange(14, 0x0000CCCC0000CCCC);
    exchange(28, 0x00000000F0F0F0F0);
    return rows;
}

class BitWriter {
  public:
    explicit BitWriter(std::span<std::uint8_t> to) : to_(to) {}

    /// The `count` highest of eight bits.
    void put(std::uint8_t bits, std::size_t count) {
        bits_ = bits_ << count | static_cast<std::uint64_t>(bits >> (8 - count));
        held_ += count;
        if (held_ >= 32) write_bytes();
    }

    /// All whole bytes that have been put.
    void write_bytes() {
        for (; held_ >= 8; to_ = to_.subspan(1)) {
            held_ -= 8;
            to_[0] = static_cast<std::uint8_t>(bits_ >> held_);
        }
    }

  private:
    std::span<std::uint8_t> to_;
    std::uint64_t bits_ = 0;
    std::size_t held_ = 0;
};

/// Writes each lane's bit of each row, lane by lane.
void write_by_lanes(std::span<const Lanes> rows, std::span<std::uint8_t> parity) {
    const std::size_t groups = (rows.size() + 7) / 8;
    std::vector<std::uint64_t> columns(groups);  // of eight lanes and eight rows each
    BitWriter writer(parity);
    for (std::size_t byte = 0; byte < kLaneBytes; ++byte) {
        const auto eight_lanes = [&](const Lanes& row) {
            return row[byte / 8] >> (56 - 8 * (byte % 8)) & 0xFF;
        };
        for (std::size_t group = 0; group < groups; ++group) {
            std::uint64_t matrix = 0;
            const std::size_t last = std::min(rows.size(), 8 * group + 8);
            for (std::size_t row = 8 * group; row < last; ++row)
                matrix |= eight_lanes(rows[row]) << (56 - 8 * (row % 8));
            columns[group] = transposed(matrix);
        }
        for (std::size_t lane = 0; lane < 8; ++lane)
            for (std::size_t group = 0; group < groups; ++group)
                writer.put(static_cast<std::uint8_t>(columns[group] >> (56 - 8 * lane)),
                           std::min<std::size_t>(8, rows.size() - 8 * group));
    }
    writer.write_bytes();
}

}  // namespace

LdpcEncoder::LdpcEncoder(const Dvbs2Code& code) : code_(code), layers_(std::make_shared<LdpcLayers>(code)) {}

void LdpcEncoder::encode(std::span<const std::uint8_t> information, std::span<std::uint8_t> fecframe) const {
    assert(information.size() == static_cast<std::size_t>(code_.k_ldpc / 8));
    assert(fecframe.size() == static_cast<std::size_t>(code_.n / 8));
    const std::vector<DoubledLanes> blocks = doubled_blocks(information);
    // Row i ends as the sum over layers 0 to i: parity bits follow each other across layers first.
    std::vector<Lanes> sums(static_cast<std::size_t>(layers_->size()));
    Lanes sum{};
    for (std::size_t layer = 0; layer < sums.size(); ++layer) {
        for (const Circulant& circulant : (*layers_)[static_cast<int>(layer)])
            add_rotated(blocks[circulant.column], kCirculantSize - circulant.shift, sum);
        sums[layer] = sum;
    }
    const Lanes earlier = sums_before(sum);
    for (Lanes& row : sums)
        for (std::size_t w = 0; w < kWords; ++w) row[w] ^= earlier[w];
    std::ranges::copy(information, fecframe.begin());
    write_by_lanes(sums, fecframe.subspan(information.size()));
}

}  // namespace tidemill::fec
