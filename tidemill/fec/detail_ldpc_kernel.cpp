// Vectors are members of structures here, which vectors of unknown length cannot be.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/fec/detail_ldpc_kernel.cpp"
#include "tidemill/fec/detail_ldpc_kernel.hpp"

#include <algorithm>
#include <cstddef>

#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::fec::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Signed = hn::CappedTag<std::int8_t, 64>;
using Unsigned = hn::RebindToUnsigned<Signed>;
using SignedVec = hn::Vec<Signed>;
using UnsignedVec = hn::Vec<Unsigned>;

constexpr Signed kSigned;
constexpr Unsigned kUnsigned;
constexpr std::size_t kStep = hn::MaxLanes(kSigned);
constexpr std::size_t kLanes = kCirculantSize;
constexpr std::size_t kMostEdges = 32;  // of a check: those of normal 9/10 have 30

HWY_INLINE SignedVec with_sign(SignedVec sign, SignedVec magnitude) {
#if HWY_TARGET <= HWY_AVX3
    return hn::IfNegativeThenElse(sign, hn::Neg(magnitude), magnitude);
#else
    // Cheaper than a blend here, and Highway 1.0's IfNegativeThenElse is wrong for bytes on SSSE3.
    const auto all_ones_if_negative = hn::BroadcastSignBit(sign);
    return hn::Sub(hn::Xor(magnitude, all_ones_if_negative), all_ones_if_negative);
#endif
}

// One check per lane: what its edges have brought so far.
struct Checks {
    UnsignedVec min1;
    UnsignedVec min2;
    SignedVec sign;
    SignedVec parity;

    HWY_INLINE Checks()
        : min1(hn::Set(kUnsigned, kLdpcMagnitudeCap)), min2(min1), sign(hn::Zero(kSigned)), parity(sign) {}

    HWY_INLINE SignedVec take(SignedVec posterior, SignedVec message) {
        const auto extrinsic = hn::SaturatedSub(posterior, message);
        const auto magnitude = hn::BitCast(kUnsigned, hn::Abs(extrinsic));
        min2 = hn::Min(min2, hn::Max(min1, magnitude));
        min1 = hn::Min(min1, magnitude);
        sign = hn::Xor(sign, extrinsic);
        parity = hn::Xor(parity, posterior);
        return extrinsic;
    }
};

// What the checks answer to edges that brought a positive value: the smallest magnitude, reduced, with the
// sign of all; to the edge that brought the smallest magnitude the second smallest. Edges that brought a
// negative value get the opposite.
struct Answers {
    SignedVec smallest;
    SignedVec to_smallest;
    SignedVec to_others;

    HWY_INLINE explicit Answers(const Checks& checks)
        : smallest(hn::BitCast(kSigned, checks.min1)),
          to_smallest(with_sign(checks.sign, reduced(checks.min2))),
          to_others(with_sign(checks.sign, reduced(checks.min1))) {}

    static HWY_INLINE SignedVec reduced(UnsignedVec magnitude) {
        return hn::BitCast(kSigned, hn::SaturatedSub(magnitude, hn::Set(kUnsigned, kLdpcOffset)));
    }

    HWY_INLINE SignedVec message(SignedVec extrinsic) const {
        const auto brought_smallest = hn::Eq(hn::Abs(extrinsic), smallest);
        return with_sign(extrinsic, hn::IfThenElse(brought_smallest, to_smallest, to_others));
    }
};

// Plain pointers of one layer: bytes alias everything, so the loops must not reach through the containers.
struct LayerView {
    const LdpcEdge* edges;
    std::size_t own_edges;
    std::size_t degree;
    std::int8_t* posteriors;
    std::int8_t* messages;  // a vector of each edge, then the next vector of each
    std::int8_t* scratch;   // a vector of each edge; then, per shared edge, the changes of its messages

    LayerView(const LdpcSchedule& schedule, const LdpcLayer& layer, LdpcMemory& memory)
        : edges(schedule.edges.data() + layer.first_edge),
          own_edges(layer.own_edges),
          degree(layer.own_edges + layer.shared_edges),
          posteriors(memory.posteriors.front().values.data()),
          messages(memory.messages[layer.first_edge].values.data()),
          scratch(memory.scratch.front().values.data()) {}

    // Where the bits of an edge's lanes from `lane` on lie: one piece, thanks to the column's repeated head.
    HWY_INLINE std::int8_t* bits(std::size_t edge, std::size_t lane) const {
        const std::size_t position = edges[edge].start + lane;
        return posteriors + edges[edge].column + (position < kLanes ? position : position - kLanes);
    }

    HWY_INLINE std::int8_t* changes(std::size_t edge) const {
        return scratch + degree * kStep + (edge - own_edges) * kPaddedLanes;
    }
};

// Lanes beyond the 360th belong to no check: what they hold is neither stored nor looked at.
template <bool kLastVector>
HWY_INLINE void store_lanes(SignedVec values, std::int8_t* to) {
    if constexpr (kLastVector) {
        hn::BlendedStore(values, hn::FirstN(kSigned, kLanes % kStep), kSigned, to);
    } else {
        hn::StoreU(values, kSigned, to);
    }
}

// One vector of checks, of which no two share a bit: unrolled, so that what lies between the passes stays in
// registers. A sign bit of the result is set where a check failed or a decision changed.
template <bool kLastVector, std::size_t kDegree>
HWY_INLINE SignedVec process_lanes_unrolled(const LayerView layer, std::size_t lane) {
    std::int8_t* messages = layer.messages + lane * kDegree;
    constexpr bool kExtrinsicsFit = kDegree <= 11;  // in the registers too; else they are worked out again
    SignedVec posteriors[kDegree];
    SignedVec extrinsics[kDegree];
    Checks checks;
#pragma GCC unroll 16
    for (std::size_t e = 0; e < kDegree; ++e) {
        posteriors[e] = hn::LoadU(kSigned, layer.bits(e, lane));
        extrinsics[e] = checks.take(posteriors[e], hn::Load(kSigned, messages + e * kStep));
    }
    const Answers answers(checks);
    auto dirty = checks.parity;
#pragma GCC unroll 16
    for (std::size_t e = 0; e < kDegree; ++e) {
        const auto extrinsic = kExtrinsicsFit
                                   ? extrinsics[e]
                                   : hn::SaturatedSub(posteriors[e], hn::Load(kSigned, messages + e * kStep));
        const auto message = answers.message(extrinsic);
        hn::Store(message, kSigned, messages + e * kStep);
        const auto after = hn::SaturatedAdd(extrinsic, message);
        dirty = hn::Or(dirty, hn::Xor(posteriors[e], after));
        store_lanes<kLastVector>(after, layer.bits(e, lane));
    }
    return kLastVector ? hn::IfThenElseZero(hn::FirstN(kSigned, kLanes % kStep), dirty) : dirty;
}

// The same for any degree and with shared columns.
template <bool kLastVector>
HWY_INLINE SignedVec process_lanes(const LayerView layer, std::size_t lane) {
    std::int8_t* messages = layer.messages + lane * layer.degree;
    std::int8_t* bits[kMostEdges];
    Checks checks;
    for (std::size_t e = 0; e < layer.degree; ++e) {
        bits[e] = layer.bits(e, lane);
        const auto posterior = hn::LoadU(kSigned, bits[e]);
        hn::Store(posterior, kSigned, layer.scratch + e * kStep);
        checks.take(posterior, hn::Load(kSigned, messages + e * kStep));
    }
    const Answers answers(checks);
    auto dirty = checks.parity;
    for (std::size_t e = 0; e < layer.own_edges; ++e) {
        const auto posterior = hn::Load(kSigned, layer.scratch + e * kStep);
        const auto extrinsic = hn::SaturatedSub(posterior, hn::Load(kSigned, messages + e * kStep));
        const auto message = answers.message(extrinsic);
        hn::Store(message, kSigned, messages + e * kStep);
        const auto after = hn::SaturatedAdd(extrinsic, message);
        dirty = hn::Or(dirty, hn::Xor(posterior, after));
        store_lanes<kLastVector>(after, bits[e]);
    }
    for (std::size_t e = layer.own_edges; e < layer.degree; ++e) {
        const auto posterior = hn::Load(kSigned, layer.scratch + e * kStep);
        const auto before = hn::Load(kSigned, messages + e * kStep);
        const auto message = answers.message(hn::SaturatedSub(posterior, before));
        const auto change = hn::SaturatedSub(message, before);
        hn::Store(message, kSigned, messages + e * kStep);
        hn::Store(change, kSigned, layer.changes(e) + lane);
    }
    return kLastVector ? hn::IfThenElseZero(hn::FirstN(kSigned, kLanes % kStep), dirty) : dirty;
}

template <bool kLastVector>
HWY_INLINE SignedVec add_changes(const LayerView layer, std::size_t edge, std::size_t lane) {
    std::int8_t* bits = layer.bits(edge, lane);
    const auto before = hn::LoadU(kSigned, bits);
    const auto after = hn::SaturatedAdd(before, hn::Load(kSigned, layer.changes(edge) + lane));
    store_lanes<kLastVector>(after, bits);
    const auto dirty = hn::Xor(before, after);
    return kLastVector ? hn::IfThenElseZero(hn::FirstN(kSigned, kLanes % kStep), dirty) : dirty;
}

// A vector that ran over the column's end has left its rest in the repeated head: both get what is newer.
HWY_INLINE void close_ring(const LayerView layer, std::size_t edge) {
    std::int8_t* head = layer.posteriors + layer.edges[edge].column;
    const std::size_t start = layer.edges[edge].start;
    const std::size_t last_vector = start + (kLanes - 1 - start) / kStep * kStep;
    const std::size_t beyond = std::min(last_vector + kStep, start + kLanes) - kLanes;
    const auto newest = hn::IfThenElse(hn::FirstN(kSigned, beyond), hn::LoadU(kSigned, head + kLanes),
                                       hn::Load(kSigned, head));
    hn::Store(newest, kSigned, head);
    hn::StoreU(newest, kSigned, head + kLanes);
}

template <std::size_t kDegree>
HWY_NOINLINE SignedVec process_all_unrolled(const LayerView layer) {
    auto dirty = hn::Zero(kSigned);
    std::size_t lane = 0;
    for (; lane + kStep <= kLanes; lane += kStep) {
        dirty = hn::Or(dirty, process_lanes_unrolled<false, kDegree>(layer, lane));
    }
    if constexpr (kLanes % kStep != 0) {
        dirty = hn::Or(dirty, process_lanes_unrolled<true, kDegree>(layer, lane));
    }
    return dirty;
}

HWY_INLINE SignedVec process_all_lanes(const LayerView layer) {
    auto dirty = hn::Zero(kSigned);
    std::size_t lane = 0;
    for (; lane + kStep <= kLanes; lane += kStep) dirty = hn::Or(dirty, process_lanes<false>(layer, lane));
    if constexpr (kLanes % kStep != 0) dirty = hn::Or(dirty, process_lanes<true>(layer, lane));
    return dirty;
}

// Unrolled for the degrees of rates 1/4 to 3/4: with more edges the registers do not suffice.
HWY_INLINE SignedVec process_by_degree(const LayerView layer) {
    if (layer.own_edges != layer.degree) return process_all_lanes(layer);
    switch (layer.degree) {
        case 4:
            return process_all_unrolled<4>(layer);
        case 5:
            return process_all_unrolled<5>(layer);
        case 6:
            return process_all_unrolled<6>(layer);
        case 7:
            return process_all_unrolled<7>(layer);
        case 10:
            return process_all_unrolled<10>(layer);
        case 11:
            return process_all_unrolled<11>(layer);
        case 14:
            return process_all_unrolled<14>(layer);
        default:
            return process_all_lanes(layer);
    }
}

HWY_INLINE SignedVec process_checks(const LayerView layer) {
    const auto dirty = process_by_degree(layer);
    for (std::size_t e = 0; e < layer.own_edges; ++e) close_ring(layer, e);
    return dirty;
}

HWY_INLINE SignedVec update_shared(const LayerView layer) {
    auto dirty = hn::Zero(kSigned);
    for (std::size_t e = layer.own_edges; e < layer.degree; ++e) {
        std::size_t lane = 0;
        for (; lane + kStep <= kLanes; lane += kStep)
            dirty = hn::Or(dirty, add_changes<false>(layer, e, lane));
        if constexpr (kLanes % kStep != 0) dirty = hn::Or(dirty, add_changes<true>(layer, e, lane));
        close_ring(layer, e);
    }
    return dirty;
}

// True when every check of the layer held and no decision changed.
HWY_INLINE bool process(const LayerView layer) {
    const auto dirty = process_checks(layer);
    return hn::AllFalse(kSigned, hn::Lt(hn::Or(dirty, update_shared(layer)), hn::Zero(kSigned)));
}

// The check of parity bit 0 has no earlier parity bit. Its lane 0 meets instead a bit that is surely 0, and
// what that lane writes is taken back.
HWY_INLINE bool process_first(const LayerView layer, std::size_t open_edge) {
    std::int8_t* last_parity_bit = layer.bits(open_edge, 0);
    const std::int8_t saved = *last_parity_bit;
    *last_parity_bit = 127;
    const bool clean = process(layer);
    *last_parity_bit = saved;
    layer.messages[open_edge * kStep] = 0;
    return clean;
}

LdpcProgress sweep(const LdpcSchedule& schedule, int max_sweeps, bool stop_early, LdpcMemory& memory) {
    const int layers = static_cast<int>(schedule.layers.size());
    int clean_layers = 0;
    for (int count = 1; count <= max_sweeps; ++count) {
        for (int index = 0; index < layers; ++index) {
            const LayerView layer(schedule, schedule.layers[static_cast<std::size_t>(index)], memory);
            const bool clean = index == 0 ? process_first(layer, schedule.open_edge) : process(layer);
            clean_layers = clean ? clean_layers + 1 : 0;
            // Signs that stood still while each check in turn was found to hold satisfy all of them.
            if (clean_layers >= layers && stop_early) return {count, true};
        }
    }
    return {max_sweeps, clean_layers >= layers};
}

}  // namespace
}  // namespace tidemill::fec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::fec {

HWY_EXPORT(sweep);

LdpcProgress ldpc_sweep(const LdpcSchedule& schedule, int max_sweeps, bool stop_early, LdpcMemory& memory) {
    return HWY_DYNAMIC_DISPATCH(sweep)(schedule, max_sweeps, stop_early, memory);
}

}  // namespace tidemill::fec
#endif
