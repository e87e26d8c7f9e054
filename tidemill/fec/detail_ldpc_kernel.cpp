#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/fec/detail_ldpc_kernel.cpp"
#include "tidemill/fec/detail_ldpc_kernel.hpp"

#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::fec::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Where a newer core has 64-byte vectors it runs two of 32 bytes in their time.
using Signed = hn::CappedTag<std::int8_t, 32>;
using Unsigned = hn::RebindToUnsigned<Signed>;
using SignedVec = hn::Vec<Signed>;
using UnsignedVec = hn::Vec<Unsigned>;

constexpr Signed kSigned;
constexpr Unsigned kUnsigned;

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE SignedVec scaled(UnsignedVec magnitude, std::int16_t factor_q15) {
    const int product = (hn::GetLane(magnitude) * factor_q15 + (1 << 14)) >> 15;
    return hn::Set(kSigned, static_cast<std::int8_t>(product));
}
#else
// Rounded to the nearest, byte by byte: even and odd bytes each as the low half of 16 bits.
HWY_INLINE SignedVec scaled(UnsignedVec magnitude, std::int16_t factor_q15) {
    const hn::Repartition<std::int16_t, Signed> wide;
    const hn::Repartition<std::uint16_t, Signed> wide_unsigned;
    const auto factor = hn::Set(wide, factor_q15);
    const auto even = hn::And(hn::BitCast(wide, magnitude), hn::Set(wide, 0xFF));
    const auto odd = hn::BitCast(wide, hn::ShiftRight<8>(hn::BitCast(wide_unsigned, magnitude)));
    const auto products =
        hn::Or(hn::MulFixedPoint15(even, factor), hn::ShiftLeft<8>(hn::MulFixedPoint15(odd, factor)));
    return hn::BitCast(kSigned, products);
}
#endif

HWY_INLINE SignedVec with_sign(SignedVec sign, SignedVec magnitude) {
#if HWY_TARGET <= HWY_AVX3
    return hn::IfNegativeThenElse(sign, hn::Neg(magnitude), magnitude);
#else
    // Cheaper than a blend here, and Highway 1.0's IfNegativeThenElse is wrong for bytes on SSSE3.
    const auto all_ones_if_negative = hn::BroadcastSignBit(sign);
    return hn::Sub(hn::Xor(magnitude, all_ones_if_negative), all_ones_if_negative);
#endif
}

// One check node per lane, all edges of a layer.
struct CheckNode {
    UnsignedVec min1;
    UnsignedVec min2;
    SignedVec sign;

    HWY_INLINE void take(SignedVec extrinsic) {
        const auto magnitude = hn::BitCast(kUnsigned, hn::Abs(extrinsic));
        min2 = hn::Min(min2, hn::Max(min1, magnitude));
        min1 = hn::Min(min1, magnitude);
        sign = hn::Xor(sign, extrinsic);
    }

    HWY_INLINE SignedVec message(SignedVec extrinsic, SignedVec scaled1, SignedVec scaled2) const {
        const auto is_smallest = hn::Eq(hn::Abs(extrinsic), hn::BitCast(kSigned, min1));
        const auto magnitude = hn::IfThenElse(is_smallest, scaled2, scaled1);
        return with_sign(hn::Xor(sign, extrinsic), magnitude);
    }
};

HWY_INLINE void mirror(std::int8_t* column) {
    for (std::size_t lane = 0; lane < kPaddedLanes; lane += hn::Lanes(kSigned)) {
        hn::StoreU(hn::Load(kSigned, column + lane), kSigned, column + kCirculantSize + lane);
    }
}

struct Sweep {
    const LdpcSchedule& schedule;
    LdpcArithmetic arithmetic;
    LdpcMemory& memory;
    SignedVec dirty;  // a sign bit is set where a check failed or a decision changed

    std::int8_t* posteriors() const { return memory.posteriors.front().values.data(); }

    HWY_INLINE void lanes(const LdpcLayer& layer, std::size_t lane) {
        const LdpcEdge* edges = &schedule.edges[layer.first_edge];
        std::int8_t* messages = memory.messages[layer.first_edge].values.data() + lane;
        std::int8_t* extrinsics = memory.extrinsics.front().values.data();
        const std::size_t step = hn::Lanes(kSigned);
        const std::size_t degree = layer.own_edges + layer.shared_edges;
        const auto cap = hn::Set(kUnsigned, arithmetic.magnitude_cap);
        CheckNode check{cap, cap, hn::Zero(kSigned)};
        auto parity = hn::Zero(kSigned);
        for (std::size_t e = 0; e < degree; ++e) {
            const auto posterior =
                hn::LoadU(kSigned, posteriors() + edges[e].column + edges[e].rotation + lane);
            const auto extrinsic =
                hn::SaturatedSub(posterior, hn::Load(kSigned, messages + e * kPaddedLanes));
            hn::Store(extrinsic, kSigned, extrinsics + e * step);
            parity = hn::Xor(parity, posterior);
            check.take(extrinsic);
        }
        dirty = hn::Or(dirty, parity);
        const auto scaled1 = scaled(check.min1, arithmetic.factor_q15);
        const auto scaled2 = scaled(check.min2, arithmetic.factor_q15);
        for (std::size_t e = 0; e < layer.own_edges; ++e) {
            const auto extrinsic = hn::Load(kSigned, extrinsics + e * step);
            const auto message = check.message(extrinsic, scaled1, scaled2);
            hn::Store(message, kSigned, messages + e * kPaddedLanes);
            std::int8_t* column = posteriors() + edges[e].column;
            const auto before = hn::LoadU(kSigned, column + edges[e].rotation + lane);
            const auto after = hn::SaturatedAdd(extrinsic, message);
            dirty = hn::Or(dirty, hn::Xor(before, after));
            hn::Store(after, kSigned, column + lane);
        }
        for (std::size_t e = layer.own_edges; e < degree; ++e) {
            const auto message = check.message(hn::Load(kSigned, extrinsics + e * step), scaled1, scaled2);
            const auto before = hn::Load(kSigned, messages + e * kPaddedLanes);
            hn::Store(message, kSigned, messages + e * kPaddedLanes);
            hn::Store(hn::SaturatedSub(message, before), kSigned,
                      memory.changes[e - layer.own_edges].values.data() + lane);
        }
    }

    HWY_INLINE void update(const LdpcLayer& layer, const LdpcSharedColumn& shared) {
        std::int8_t* column = posteriors() + shared.column;
        const LdpcEdge* edges = &schedule.edges[layer.first_edge + layer.own_edges + shared.first];
        LdpcMemory::Column* changes = &memory.changes[shared.first];
        for (std::uint32_t e = 0; e < shared.count; ++e) mirror(changes[e].values.data());
        for (std::size_t lane = 0; lane < kPaddedLanes; lane += hn::Lanes(kSigned)) {
            const auto before = hn::Load(kSigned, column + lane);
            auto after = before;
            for (std::uint32_t e = 0; e < shared.count; ++e) {
                const std::size_t back = (kCirculantSize - edges[e].rotation) % kCirculantSize;
                after = hn::SaturatedAdd(after, hn::LoadU(kSigned, changes[e].values.data() + back + lane));
            }
            dirty = hn::Or(dirty, hn::Xor(before, after));
            hn::Store(after, kSigned, column + lane);
        }
        mirror(column);
    }

    // True when every check of the layer held and no decision changed.
    HWY_INLINE bool process(const LdpcLayer& layer) {
        dirty = hn::Zero(kSigned);
        for (std::size_t lane = 0; lane < kPaddedLanes; lane += hn::Lanes(kSigned)) lanes(layer, lane);
        return finish(layer);
    }

    HWY_INLINE bool finish(const LdpcLayer& layer) {
        for (std::uint32_t e = 0; e < layer.own_edges; ++e) {
            mirror(posteriors() + schedule.edges[layer.first_edge + e].column);
        }
        for (std::uint32_t i = 0; i < layer.shared_columns; ++i) {
            update(layer, schedule.shared_columns[layer.first_shared_column + i]);
        }
        return hn::AllFalse(kSigned, hn::Lt(dirty, hn::Zero(kSigned)));
    }

    // The check of parity bit 0 has no earlier parity bit. Its lane (0, repeated at 360) meets instead a bit
    // that is surely 0, and what that lane writes is taken back.
    HWY_INLINE bool process_first_layer() {
        const LdpcEdge& open = schedule.edges[schedule.open_edge];
        std::int8_t* column = posteriors() + open.column;
        std::int8_t* message = memory.messages[schedule.open_edge].values.data();
        const std::int8_t last_parity_bit = column[open.rotation];
        column[open.rotation] = column[open.rotation + kCirculantSize] = 127;
        dirty = hn::Zero(kSigned);
        const LdpcLayer& layer = schedule.layers.front();
        for (std::size_t lane = 0; lane < kPaddedLanes; lane += hn::Lanes(kSigned)) lanes(layer, lane);
        message[0] = message[kCirculantSize] = 0;
        column[0] = column[kCirculantSize] = last_parity_bit;
        return finish(layer);
    }
};

LdpcProgress sweep(const LdpcSchedule& schedule, LdpcArithmetic arithmetic, int max_sweeps, bool stop_early,
                   LdpcMemory& memory) {
    Sweep state{schedule, arithmetic, memory, hn::Zero(kSigned)};
    const int layers = static_cast<int>(schedule.layers.size());
    int clean_layers = 0;
    for (int count = 1; count <= max_sweeps; ++count) {
        for (int layer = 0; layer < layers; ++layer) {
            const bool clean = layer == 0 ? state.process_first_layer()
                                          : state.process(schedule.layers[static_cast<std::size_t>(layer)]);
            clean_layers = clean ? clean_layers + 1 : 0;
            // Signs that stood still while each check in turn was found to hold satisfy all of them.
            if (clean_layers >= layers && stop_early) return {count, layer, true};
        }
    }
    return {max_sweeps, layers - 1, clean_layers >= layers};
}

}  // namespace
}  // namespace tidemill::fec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::fec {

HWY_EXPORT(sweep);

LdpcProgress ldpc_sweep(const LdpcSchedule& schedule, LdpcArithmetic arithmetic, int max_sweeps,
                        bool stop_early, LdpcMemory& memory) {
    return HWY_DYNAMIC_DISPATCH(sweep)(schedule, arithmetic, max_sweeps, stop_early, memory);
}

}  // namespace tidemill::fec
#endif
