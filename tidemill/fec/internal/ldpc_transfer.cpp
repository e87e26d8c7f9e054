#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/fec/internal/ldpc_transfer.cpp"
#include "tidemill/fec/internal/ldpc_transfer.hpp"

#include <algorithm>
#include <array>

#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::fec::HWY_NAMESPACE {
namespace {

constexpr std::size_t kLanes = kCirculantSize;

#if HWY_TARGET == HWY_SCALAR

void load(const Llr* parity, std::size_t q, LdpcMemory::Column* columns) {
    for (std::size_t column = 0; column < q; ++column)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            columns[column].values[lane] = parity[column + q * lane];
}

void pack_column(const std::int8_t* values, std::size_t turn, std::uint8_t* bytes) {
    std::fill_n(bytes, kLanes / 8, std::uint8_t{0});
    for (std::size_t bit = 0; bit < kLanes; ++bit) {
        const bool negative = values[(bit + kLanes - turn) % kLanes] < 0;
        bytes[bit / 8] |= static_cast<std::uint8_t>(negative << (7 - bit % 8));
    }
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using Sixteen = hn::FixedTag<Llr, 16>;
using Row = hn::Vec<Sixteen>;
constexpr Sixteen kSixteen;
constexpr std::size_t kBlock = 16;

// Each time that the two halves of the rows are shuffled into each other, a bit of a byte's place moves from
// row to column.
HWY_INLINE void shuffle(const Row (&rows)[kBlock], Row (&shuffled)[kBlock]) {
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < kBlock / 2; ++i) {
        shuffled[2 * i] = hn::InterleaveLower(kSixteen, rows[i], rows[i + kBlock / 2]);
        shuffled[2 * i + 1] = hn::InterleaveUpper(kSixteen, rows[i], rows[i + kBlock / 2]);
    }
}

// Sixteen rows of sixteen bytes, q apart, become the lanes from `lane` on of the columns from `first` on;
// what would be columns before the first one is left out.
HWY_INLINE void transpose(const Llr* parity, std::size_t q, LdpcMemory::Column* columns, std::ptrdiff_t first,
                          std::size_t lane) {
    Row rows[kBlock];
    Row shuffled[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i) rows[i] = hn::LoadU(kSixteen, parity + first + (lane + i) * q);
    shuffle(rows, shuffled);
    shuffle(shuffled, rows);
    shuffle(rows, shuffled);
    shuffle(shuffled, rows);
    for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(-first, 0); i < std::ssize(rows); ++i)
        hn::StoreU(rows[i], kSixteen, &columns[first + i].values[lane]);
}

// A last block that is not full overlaps what lies before it.
void load(const Llr* parity, std::size_t q, LdpcMemory::Column* columns) {
    for (std::size_t lanes = 0; lanes < kLanes; lanes += kBlock) {
        const std::size_t lane = std::min(lanes, kLanes - kBlock);
        for (std::size_t end = std::min(q, kBlock);; end = std::min(q, end + kBlock)) {
            transpose(parity, q, columns, static_cast<std::ptrdiff_t>(end) - std::ptrdiff_t{kBlock}, lane);
            if (end == q) break;
        }
    }
}

constexpr hn::CappedTag<std::int8_t, 64> kSigned;
constexpr std::size_t kStep = hn::MaxLanes(kSigned);

// The bits of a mask begin with a byte's lowest, packed ones with its highest.
void pack(const std::int8_t* values, std::uint8_t* bytes) {
    alignas(16) constexpr std::int8_t kBackwards[16] = {7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8};
    const auto turned = hn::TableLookupBytes(hn::LoadU(kSigned, values), hn::LoadDup128(kSigned, kBackwards));
    hn::StoreMaskBits(kSigned, hn::Lt(turned, hn::Zero(kSigned)), bytes);
}

// Vectors that run over the column's end find its repeated head; what they bring beyond it is cut off.
void pack_column(const std::int8_t* values, std::size_t turn, std::uint8_t* bytes) {
    constexpr std::size_t kRoom = (kLanes + kStep) / 8;
    std::array<std::uint8_t, kRoom> packed;
    for (std::size_t bit = 0; bit < kLanes; bit += kStep) {
        const std::size_t position = bit < turn ? bit + kLanes - turn : bit - turn;
        pack(values + position, packed.data() + bit / 8);
    }
    std::copy_n(packed.begin(), kLanes / 8, bytes);
}

#endif

void pack_all(const LdpcMemory::Column* columns, const std::uint32_t* turns, std::size_t count,
              std::uint8_t* bytes) {
    for (std::size_t i = 0; i < count; ++i)
        pack_column(columns[i].values.data(), turns[i], bytes + i * (kLanes / 8));
}

}  // namespace
}  // namespace tidemill::fec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::fec {

HWY_EXPORT(load);
HWY_EXPORT(pack_all);

void load_parity(std::span<const Llr> llrs, std::span<LdpcMemory::Column> columns) {
    const std::size_t q = columns.size();
    HWY_DYNAMIC_DISPATCH(load)(llrs.data() + llrs.size() - q * kCirculantSize, q, columns.data());
}

void pack_signs(std::span<const LdpcMemory::Column> columns, std::span<const std::uint32_t> turns,
                std::span<std::uint8_t> bytes) {
    HWY_DYNAMIC_DISPATCH(pack_all)(columns.data(), turns.data(), columns.size(), bytes.data());
}

}  // namespace tidemill::fec
#endif
