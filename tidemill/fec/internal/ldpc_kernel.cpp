#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/fec/internal/ldpc_kernel.cpp"
#include "tidemill/fec/internal/ldpc_kernel.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

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
// Vectors that are worked on side by side: what is known of their checks stays in registers.
constexpr std::size_t kAbreast = HWY_TARGET <= HWY_AVX3 ? 6 : 3;
constexpr std::size_t kChunk = kAbreast * kStep;
constexpr std::size_t kChunks = kPaddedLanes / kChunk;
static_assert(kChunks * kChunk == kPaddedLanes);

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

    HWY_INLINE Checks() : min1(hn::Set(kUnsigned, kLdpcMagnitudeCap)), min2(min1), sign(hn::Zero(kSigned)) {}

    HWY_INLINE void take(SignedVec extrinsic) {
        const auto magnitude = hn::BitCast(kUnsigned, hn::Abs(extrinsic));
        min2 = hn::Min(min2, hn::Max(min1, magnitude));
        min1 = hn::Min(min1, magnitude);
        sign = hn::Xor(sign, extrinsic);
    }
};

// What the checks answer to edges that brought a positive value: the smallest magnitude, reduced, with the
// sign of all; to the edge that brought the smallest magnitude the second smallest. Edges that brought a
// negative value get the opposite.
struct Answers {
    SignedVec smallest;
    SignedVec to_smallest;
    SignedVec to_others;

    HWY_INLINE Answers() {}
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
    std::int8_t* messages_begin;
    std::int8_t* changes_begin;

    LayerView(const LdpcSchedule& schedule, const LdpcLayer& layer, LdpcMemory& memory)
        : edges(schedule.edges.data() + layer.first_edge),
          own_edges(layer.own_edges),
          degree(layer.own_edges + layer.shared_edges),
          posteriors(memory.posteriors.front().values.data()),
          messages_begin(memory.messages[layer.first_edge].values.data()),
          changes_begin(memory.changes.front().values.data()) {}

    HWY_INLINE std::int8_t* column(std::size_t edge) const { return posteriors + edges[edge].column; }

    // Where the bits of an edge's lanes from `lane` on lie: one piece, thanks to the column's repeated head.
    HWY_INLINE std::int8_t* bits(std::size_t edge, std::size_t start, std::size_t lane) const {
        const std::size_t position = start + lane;
        return column(edge) + (position < kLanes ? position : position - kLanes);
    }

    HWY_INLINE std::int8_t* messages(std::size_t edge) const { return messages_begin + edge * kPaddedLanes; }

    // Of a shared edge.
    HWY_INLINE std::int8_t* changes(std::size_t edge) const {
        return changes_begin + (edge - own_edges) * kPaddedLanes;
    }
};

// What an edge brings to the checks of a chunk, in the first sweep its bits alone; stored at `to`.
template <bool kFirstSweep>
HWY_INLINE void bring(const LayerView layer, std::size_t edge, std::size_t chunk, Checks* checks,
                      std::int8_t* to) {
    const std::int8_t* messages = layer.messages(edge);
    const std::size_t start = layer.edges[edge].start;
    HWY_UNROLL(6)
    for (std::size_t i = 0; i < kAbreast; ++i) {
        const std::size_t lane = chunk + i * kStep;
        const auto posterior = hn::LoadU(kSigned, layer.bits(edge, start, lane));
        const auto extrinsic =
            kFirstSweep ? posterior : hn::SaturatedSub(posterior, hn::Load(kSigned, messages + lane));
        checks[i].take(extrinsic);
        hn::Store(extrinsic, kSigned, to + lane);
    }
}

// Messages give way to what the edges bring: of those that own their column, the old ones are not needed any
// more.
template <bool kFirstSweep>
HWY_INLINE void ask(const LayerView layer, std::size_t chunk, Answers* answers) {
    Checks checks[kAbreast];
    for (std::size_t e = 0; e < layer.own_edges; ++e)
        bring<kFirstSweep>(layer, e, chunk, checks, layer.messages(e));
    for (std::size_t e = layer.own_edges; e < layer.degree; ++e) {
        if (kFirstSweep) std::fill_n(layer.messages(e) + chunk, kChunk, std::int8_t{0});
        bring<kFirstSweep>(layer, e, chunk, checks, layer.changes(e));
    }
    HWY_UNROLL(6)
    for (std::size_t i = 0; i < kAbreast; ++i) answers[i] = Answers(checks[i]);
}

HWY_INLINE void answer_own(const LayerView layer, std::size_t edge, std::size_t chunk,
                           const Answers* answers) {
    std::int8_t* messages = layer.messages(edge) + chunk;
    std::int8_t* bits = layer.column(edge) + chunk;
    HWY_UNROLL(6)
    for (std::size_t i = 0; i < kAbreast; ++i) {
        const auto extrinsic = hn::Load(kSigned, messages + i * kStep);
        const auto message = answers[i].message(extrinsic);
        hn::Store(message, kSigned, messages + i * kStep);
        hn::Store(hn::SaturatedAdd(extrinsic, message), kSigned, bits + i * kStep);
    }
}

HWY_INLINE void answer_shared(const LayerView layer, std::size_t edge, std::size_t chunk,
                              const Answers* answers) {
    std::int8_t* messages = layer.messages(edge) + chunk;
    std::int8_t* changes = layer.changes(edge) + chunk;
    for (std::size_t i = 0; i < kAbreast; ++i) {
        const auto before = hn::Load(kSigned, messages + i * kStep);
        const auto message = answers[i].message(hn::Load(kSigned, changes + i * kStep));
        hn::Store(message, kSigned, messages + i * kStep);
        hn::Store(hn::SaturatedSub(message, before), kSigned, changes + i * kStep);
    }
}

HWY_INLINE void answer(const LayerView layer, std::size_t chunk, const Answers* given) {
    Answers answers[kAbreast];
    HWY_UNROLL(6)
    for (std::size_t i = 0; i < kAbreast; ++i) answers[i] = given[i];
    for (std::size_t e = 0; e < layer.own_edges; ++e) answer_own(layer, e, chunk, answers);
    for (std::size_t e = layer.own_edges; e < layer.degree; ++e) answer_shared(layer, e, chunk, answers);
}

// Lanes beyond the 360th belong to no check. `lane` is less than that.
HWY_INLINE hn::Mask<Signed> real_lanes(std::size_t lane) {
    return hn::FirstN(kSigned, std::min(kLanes - lane, kStep));
}

// A vector that ran over the column's end has left its rest in the repeated head: both get what is newer.
HWY_INLINE void close_ring(const LayerView layer, std::size_t edge) {
    std::int8_t* head = layer.column(edge);
    const std::size_t start = layer.edges[edge].start;
    const std::size_t last_vector = start + (kLanes - 1 - start) / kStep * kStep;
    const std::size_t beyond = std::min(last_vector + kStep, start + kLanes) - kLanes;
    const auto newest = hn::IfThenElse(hn::FirstN(kSigned, beyond), hn::LoadU(kSigned, head + kLanes),
                                       hn::Load(kSigned, head));
    hn::Store(newest, kSigned, head);
    hn::StoreU(newest, kSigned, head + kLanes);
}

HWY_INLINE void add_changes(const LayerView layer, std::size_t edge) {
    const std::size_t start = layer.edges[edge].start;
    const auto changed = [&](std::size_t lane, const std::int8_t* bits) HWY_ATTR {
        return hn::SaturatedAdd(hn::LoadU(kSigned, bits), hn::Load(kSigned, layer.changes(edge) + lane));
    };
    constexpr std::size_t kWhole = kLanes / kStep * kStep;
    for (std::size_t lane = 0; lane < kWhole; lane += kStep) {
        std::int8_t* bits = layer.bits(edge, start, lane);
        hn::StoreU(changed(lane, bits), kSigned, bits);
    }
    if constexpr (kWhole < kLanes) {
        std::int8_t* bits = layer.bits(edge, start, kWhole);
        hn::BlendedStore(changed(kWhole, bits), real_lanes(kWhole), kSigned, bits);
    }
    close_ring(layer, edge);
}

// All bits are read before the first is written: a column that one edge owns is left in the order of this
// layer's checks, to be read from another start by the next one.
template <bool kFirstSweep>
HWY_INLINE void process(const LayerView layer) {
    Answers answers[kChunks * kAbreast];
    for (std::size_t c = 0; c < kChunks; ++c) ask<kFirstSweep>(layer, c * kChunk, answers + c * kAbreast);
    for (std::size_t c = 0; c < kChunks; ++c) answer(layer, c * kChunk, answers + c * kAbreast);
    for (std::size_t e = 0; e < layer.own_edges; ++e)
        hn::StoreU(hn::Load(kSigned, layer.column(e)), kSigned, layer.column(e) + kLanes);
    for (std::size_t e = layer.own_edges; e < layer.degree; ++e) add_changes(layer, e);
}

// How many checks of the layer the bits fail, as they lie between two sweeps.
HWY_INLINE std::size_t failed_checks(const LayerView layer) {
    std::size_t failed = 0;
    for (std::size_t lane = 0; lane < kLanes; lane += kStep) {
        auto parity = hn::Zero(kSigned);
        for (std::size_t e = 0; e < layer.degree; ++e)
            parity = hn::Xor(parity, hn::LoadU(kSigned, layer.bits(e, layer.edges[e].rest_start, lane)));
        const auto fails = hn::Lt(hn::IfThenElseZero(real_lanes(lane), parity), hn::Zero(kSigned));
        failed += hn::CountTrue(kSigned, fails);
    }
    return failed;
}

// The check of parity bit 0 has no earlier parity bit. Its lane 0 meets instead a bit that is surely 0.
constexpr std::int8_t kSurelyZero = 127;

template <bool kFirstSweep>
HWY_INLINE void sweep_layers(const LdpcSchedule& schedule, LdpcMemory& memory) {
    const LayerView first(schedule, schedule.layers.front(), memory);
    const std::int8_t last_parity_bit =
        std::exchange(*first.bits(schedule.open_edge, first.edges[schedule.open_edge].start, 0), kSurelyZero);
    process<kFirstSweep>(first);
    first.messages(schedule.open_edge)[0] = 0;
    first.column(schedule.open_edge)[0] = last_parity_bit;
    first.column(schedule.open_edge)[kLanes] = last_parity_bit;
    for (std::size_t i = 1; i < schedule.layers.size(); ++i)
        process<kFirstSweep>(LayerView(schedule, schedule.layers[i], memory));
}

void sweep(const LdpcSchedule& schedule, bool first, LdpcMemory& memory) {
    first ? sweep_layers<true>(schedule, memory) : sweep_layers<false>(schedule, memory);
}

std::size_t count_failed(const LdpcSchedule& schedule, std::size_t most, LdpcMemory& memory) {
    const LayerView first(schedule, schedule.layers.front(), memory);
    std::int8_t* last_parity_bit =
        first.bits(schedule.open_edge, first.edges[schedule.open_edge].rest_start, 0);
    const std::int8_t saved = std::exchange(*last_parity_bit, kSurelyZero);
    std::size_t failed = failed_checks(first);
    *last_parity_bit = saved;
    for (std::size_t i = 1; i < schedule.layers.size() && failed < most; ++i)
        failed += failed_checks(LayerView(schedule, schedule.layers[i], memory));
    return failed;
}

}  // namespace
}  // namespace tidemill::fec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::fec {

HWY_EXPORT(sweep);
HWY_EXPORT(count_failed);

void ldpc_sweep(const LdpcSchedule& schedule, bool first, LdpcMemory& memory) {
    HWY_DYNAMIC_DISPATCH(sweep)(schedule, first, memory);
}

std::size_t ldpc_failed_checks(const LdpcSchedule& schedule, std::size_t most, LdpcMemory& memory) {
    return HWY_DYNAMIC_DISPATCH(count_failed)(schedule, most, memory);
}

}  // namespace tidemill::fec
#endif
