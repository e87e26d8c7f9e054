// Vectors are members of structures here, which vectors of unknown length cannot be.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/fec/detail_ldpc_kernel.cpp"
#include "tidemill/fec/detail_ldpc_kernel.hpp"

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

// What the checks answer: to the edge that brought the smallest magnitude the second smallest.
struct Answers {
    SignedVec smallest;
    SignedVec to_smallest;
    SignedVec to_others;
    SignedVec sign;

    HWY_INLINE explicit Answers(const Checks& checks)
        : smallest(hn::BitCast(kSigned, checks.min1)),
          to_smallest(reduced(checks.min2)),
          to_others(reduced(checks.min1)),
          sign(checks.sign) {}

    static HWY_INLINE SignedVec reduced(UnsignedVec magnitude) {
        return hn::BitCast(kSigned, hn::SaturatedSub(magnitude, hn::Set(kUnsigned, kLdpcOffset)));
    }

    HWY_INLINE SignedVec message(SignedVec extrinsic) const {
        const auto brought_smallest = hn::Eq(hn::Abs(extrinsic), smallest);
        return with_sign(hn::Xor(sign, extrinsic), hn::IfThenElse(brought_smallest, to_smallest, to_others));
    }
};

HWY_INLINE void mirror(std::int8_t* column) {
    for (std::size_t lane = 0; lane < kPaddedLanes; lane += kStep) {
        hn::StoreU(hn::Load(kSigned, column + lane), kSigned, column + kCirculantSize + lane);
    }
}

// Plain pointers of one layer: bytes alias everything, so the loops must not reach through the containers.
struct LayerView {
    const LdpcEdge* edges;
    const LdpcSharedColumn* shared_columns_begin;
    const LdpcSharedColumn* shared_columns_end;
    std::size_t own_edges;
    std::size_t degree;
    std::int8_t* posteriors;
    std::int8_t* messages;
    std::int8_t* extrinsics;
    std::int8_t* changes;

    LayerView(const LdpcSchedule& schedule, const LdpcLayer& layer, LdpcMemory& memory)
        : edges(schedule.edges.data() + layer.first_edge),
          shared_columns_begin(schedule.shared_columns.data() + layer.first_shared_column),
          shared_columns_end(shared_columns_begin + layer.shared_columns),
          own_edges(layer.own_edges),
          degree(layer.own_edges + layer.shared_edges),
          posteriors(memory.posteriors.front().values.data()),
          messages(memory.messages[layer.first_edge].values.data()),
          extrinsics(memory.extrinsics.front().values.data()),
          changes(memory.changes.empty() ? nullptr : memory.changes.front().values.data()) {}
};

// One vector of checks. A sign bit of the result is set where a check failed or a decision changed.
HWY_INLINE SignedVec process_lanes(const LayerView layer, std::size_t lane) {
    Checks checks;
    for (std::size_t e = 0; e < layer.degree; ++e) {
        const auto posterior = hn::LoadU(kSigned, layer.posteriors + layer.edges[e].read + lane);
        const auto message = hn::Load(kSigned, layer.messages + e * kPaddedLanes + lane);
        hn::Store(checks.take(posterior, message), kSigned, layer.extrinsics + e * kStep);
    }
    const Answers answers(checks);
    auto dirty = checks.parity;
    for (std::size_t e = 0; e < layer.own_edges; ++e) {
        const auto extrinsic = hn::Load(kSigned, layer.extrinsics + e * kStep);
        const auto message = answers.message(extrinsic);
        hn::Store(message, kSigned, layer.messages + e * kPaddedLanes + lane);
        const auto before = hn::LoadU(kSigned, layer.posteriors + layer.edges[e].read + lane);
        const auto after = hn::SaturatedAdd(extrinsic, message);
        dirty = hn::Or(dirty, hn::Xor(before, after));
        hn::Store(after, kSigned, layer.posteriors + layer.edges[e].column + lane);
    }
    for (std::size_t e = layer.own_edges; e < layer.degree; ++e) {
        const auto message = answers.message(hn::Load(kSigned, layer.extrinsics + e * kStep));
        const auto before = hn::Load(kSigned, layer.messages + e * kPaddedLanes + lane);
        hn::Store(message, kSigned, layer.messages + e * kPaddedLanes + lane);
        hn::Store(hn::SaturatedSub(message, before), kSigned,
                  layer.changes + (e - layer.own_edges) * kColumnStride + lane);
    }
    return dirty;
}

// Adds to a shared column the changes of all its edges.
HWY_INLINE SignedVec update_shared(const LayerView layer, const LdpcSharedColumn shared) {
    std::int8_t* column = layer.posteriors + shared.column;
    const LdpcEdge* edges = layer.edges + layer.own_edges + shared.first;
    std::int8_t* changes = layer.changes + shared.first * kColumnStride;
    for (std::size_t e = 0; e < shared.count; ++e) mirror(changes + e * kColumnStride);
    auto dirty = hn::Zero(kSigned);
    for (std::size_t lane = 0; lane < kPaddedLanes; lane += kStep) {
        const auto before = hn::Load(kSigned, column + lane);
        auto after = before;
        for (std::size_t e = 0; e < shared.count; ++e) {
            // The stored order starts `rotation` lanes before this edge's.
            const std::size_t rotation = edges[e].read - edges[e].column;
            const std::size_t from = e * kColumnStride + (rotation == 0 ? 0 : kCirculantSize - rotation);
            after = hn::SaturatedAdd(after, hn::LoadU(kSigned, changes + from + lane));
        }
        dirty = hn::Or(dirty, hn::Xor(before, after));
        hn::Store(after, kSigned, column + lane);
    }
    mirror(column);
    return dirty;
}

HWY_INLINE SignedVec process_all_lanes(const LayerView layer) {
    auto dirty = hn::Zero(kSigned);
    for (std::size_t lane = 0; lane < kPaddedLanes; lane += kStep) {
        dirty = hn::Or(dirty, process_lanes(layer, lane));
    }
    return dirty;
}

// True when every check of the layer held and no decision changed.
HWY_INLINE bool finish(const LayerView layer, SignedVec dirty) {
    for (std::size_t e = 0; e < layer.own_edges; ++e) mirror(layer.posteriors + layer.edges[e].column);
    for (auto shared = layer.shared_columns_begin; shared != layer.shared_columns_end; ++shared) {
        dirty = hn::Or(dirty, update_shared(layer, *shared));
    }
    return hn::AllFalse(kSigned, hn::Lt(dirty, hn::Zero(kSigned)));
}

// The check of parity bit 0 has no earlier parity bit. Its lane (0, repeated at 360) meets instead a bit that
// is surely 0, and what that lane writes is taken back.
HWY_INLINE bool process_first_layer(const LayerView layer, std::size_t open_edge) {
    std::int8_t* open_lane = layer.posteriors + layer.edges[open_edge].read;
    std::int8_t* column = layer.posteriors + layer.edges[open_edge].column;
    std::int8_t* message = layer.messages + open_edge * kPaddedLanes;
    const std::int8_t last_parity_bit = *open_lane;
    open_lane[0] = open_lane[kCirculantSize] = 127;
    const auto dirty = process_all_lanes(layer);
    message[0] = message[kCirculantSize] = 0;
    column[0] = column[kCirculantSize] = last_parity_bit;
    return finish(layer, dirty);
}

LdpcProgress sweep(const LdpcSchedule& schedule, int max_sweeps, bool stop_early, LdpcMemory& memory) {
    const int layers = static_cast<int>(schedule.layers.size());
    int clean_layers = 0;
    for (int count = 1; count <= max_sweeps; ++count) {
        for (int index = 0; index < layers; ++index) {
            const LayerView layer(schedule, schedule.layers[static_cast<std::size_t>(index)], memory);
            const bool clean = index == 0 ? process_first_layer(layer, schedule.open_edge)
                                          : finish(layer, process_all_lanes(layer));
            clean_layers = clean ? clean_layers + 1 : 0;
            // Signs that stood still while each check in turn was found to hold satisfy all of them.
            if (clean_layers >= layers && stop_early) return {count, index, true};
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

LdpcProgress ldpc_sweep(const LdpcSchedule& schedule, int max_sweeps, bool stop_early, LdpcMemory& memory) {
    return HWY_DYNAMIC_DISPATCH(sweep)(schedule, max_sweeps, stop_early, memory);
}

}  // namespace tidemill::fec
#endif
