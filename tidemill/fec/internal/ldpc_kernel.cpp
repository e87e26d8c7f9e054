#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/fec/internal/ldpc_kernel.cpp"
#include "tidemill/fec/internal/ldpc_kernel.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

// GCC would leave some of the functions that are called for each of six vectors out of line, and with them
// what is known of their checks out of registers.
#undef TIDEMILL_INLINE_LAMBDA
#if HWY_COMPILER_GCC && HWY_TARGET <= HWY_AVX3
#define TIDEMILL_INLINE_LAMBDA HWY_ATTR __attribute__((always_inline))
#else
#define TIDEMILL_INLINE_LAMBDA HWY_ATTR
#endif

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
static_assert(kChunks * kChunk == kPaddedLanes && kPaddedLanes % (3 * kStep) == 0);

HWY_INLINE SignedVec with_sign(SignedVec sign, SignedVec magnitude) {
#if HWY_TARGET <= HWY_AVX3
    return hn::IfNegativeThenElse(sign, hn::Neg(magnitude), magnitude);
#elif HWY_TARGET == HWY_AVX2
    // One instruction, but of sign 0 it makes 0.
    return SignedVec{_mm256_sign_epi8(magnitude.raw, hn::Or(sign, hn::Set(kSigned, 1)).raw)};
#elif HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
    return SignedVec{_mm_sign_epi8(magnitude.raw, hn::Or(sign, hn::Set(kSigned, 1)).raw)};
#else
    // Cheaper than a blend here.
    const auto all_ones_if_negative = hn::BroadcastSignBit(sign);
    return hn::Sub(hn::Xor(magnitude, all_ones_if_negative), all_ones_if_negative);
#endif
}

// |x|. Of AVX-512's units only one knows absolute values, and it has the most to do here.
HWY_INLINE UnsignedVec magnitude_of(SignedVec x) {
#if HWY_TARGET <= HWY_AVX3
    return hn::BitCast(kUnsigned, hn::IfThenElse(hn::TestBit(x, hn::Set(kSigned, -128)), hn::Neg(x), x));
#else
    return hn::BitCast(kUnsigned, hn::Abs(x));
#endif
}

// One register for a value that a loop hands on to itself and to what follows: GCC would keep it in two, as
// vectors of other lanes, and have too few for the rest.
HWY_INLINE void hold_once([[maybe_unused]] UnsignedVec& value) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL && HWY_TARGET < HWY_EMU128
    auto raw = value.raw;
    asm("" : "+v"(raw));
    value.raw = raw;
#endif
}

// Least magnitudes: the two smallest stand for all, reduced, since the others take something off as well.
struct LeastTwo {
    UnsignedVec least;
    UnsignedVec second;

    HWY_INLINE explicit LeastTwo(const std::uint8_t*)
        : least(hn::Set(kUnsigned, kLdpcMagnitudeCap)), second(least) {}

    HWY_INLINE void take(UnsignedVec magnitude) {
        second = hn::Min(second, hn::Max(least, magnitude));
        least = hn::Min(least, magnitude);
        hold_once(least);
    }
    HWY_INLINE UnsignedVec to_least() const { return reduced(second); }
    HWY_INLINE UnsignedVec to_others() const { return reduced(least); }

    static HWY_INLINE UnsignedVec reduced(UnsignedVec magnitude) {
        return hn::SaturatedSub(magnitude, hn::Set(kUnsigned, kLdpcOffset));
    }
};

// LdpcCorrections, of as many values as a vector has lanes.
class Corrections {
  public:
#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold the table
    HWY_INLINE explicit Corrections(const std::uint8_t* table) : table_(table) {}
    HWY_INLINE UnsignedVec of(UnsignedVec x) const {
        return hn::Set(kUnsigned, table_[std::min<std::size_t>(hn::GetLane(x), kLdpcCorrections - 1)]);
    }

  private:
    const std::uint8_t* table_;
#else
    HWY_INLINE explicit Corrections(const std::uint8_t* table) : table_(hn::LoadDup128(kUnsigned, table)) {}
    HWY_INLINE UnsignedVec of(UnsignedVec x) const {
        return hn::TableLookupBytes(table_, hn::Min(x, hn::Set(kUnsigned, kLdpcCorrections - 1)));
    }

  private:
    UnsignedVec table_;
#endif
};

// The smallest magnitude, and the sum-product of all others: of Jones et al. 2003, "Approximate-min*
// constraint node updating", where checks answer all but the smallest with the sum-product of all, themselves
// included.
struct LeastAndRest {
    UnsignedVec least;
    UnsignedVec rest;
    Corrections corrections;

    HWY_INLINE explicit LeastAndRest(const std::uint8_t* table)
        : least(hn::Set(kUnsigned, kLdpcMagnitudeCap)), rest(least), corrections(table) {}

    HWY_INLINE void take(UnsignedVec magnitude) {
        rest = combined(rest, hn::Max(least, magnitude));
        least = hn::Min(least, magnitude);
        hold_once(rest);
        hold_once(least);
    }
    HWY_INLINE UnsignedVec to_least() const { return rest; }
    HWY_INLINE UnsignedVec to_others() const { return combined(rest, least); }

    // Magnitude of two magnitudes together, 2 atanh(tanh(a / 2) tanh(b / 2)): the smaller one, corrected by
    // what sum and difference say.
    HWY_INLINE UnsignedVec combined(UnsignedVec a, UnsignedVec b) const {
        const auto smaller = hn::Min(a, b);
        const auto more = corrections.of(hn::Add(a, b));
        const auto less = corrections.of(hn::Sub(hn::Max(a, b), smaller));
        return hn::SaturatedSub(hn::Add(smaller, more), less);
    }
};

// One check per lane: what its edges have brought so far.
template <class Rule>
struct Checks {
    Rule rule;
    SignedVec sign;

    HWY_INLINE explicit Checks(const std::uint8_t* corrections)
        : rule(corrections), sign(hn::Zero(kSigned)) {}

    HWY_INLINE void take(SignedVec extrinsic) {
        rule.take(magnitude_of(extrinsic));
        sign = hn::Xor(sign, extrinsic);
    }
};

// Answers of the checks to edges that brought a positive value, with the sign of all: to the edge that
// brought the smallest magnitude, and to the others. Edges that brought a negative value get the opposite.
struct Answers {
    SignedVec smallest;
    SignedVec to_smallest;
    SignedVec to_others;

    HWY_INLINE Answers() {}
    template <class Rule>
    HWY_INLINE explicit Answers(const Checks<Rule>& checks)
        : smallest(hn::BitCast(kSigned, checks.rule.least)),
          to_smallest(with_sign(checks.sign, hn::BitCast(kSigned, checks.rule.to_least()))),
          to_others(with_sign(checks.sign, hn::BitCast(kSigned, checks.rule.to_others()))) {}

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
    const std::uint8_t* corrections;

    LayerView(const LdpcSchedule& schedule, const LdpcLayer& layer, LdpcMemory& memory)
        : edges(schedule.edges.data() + layer.first_edge),
          own_edges(layer.own_edges),
          degree(layer.own_edges + layer.shared_edges),
          posteriors(memory.posteriors.front().values.data()),
          messages_begin(memory.messages[layer.first_edge].values.data()),
          changes_begin(memory.changes.front().values.data()),
          corrections(schedule.corrections[memory.halvings].by_x.data()) {}

    HWY_INLINE std::int8_t* column(std::size_t edge) const { return posteriors + edges[edge].column; }

    // Where the bits of an edge's lanes from `lane` on lie: one piece, thanks to the column's repeated head.
    static HWY_INLINE std::size_t place(const LdpcEdge::Places& places, std::size_t lane) {
        if constexpr (kStep % kPlacedLanes == 0) {
            return places[lane / kPlacedLanes];
        } else {
            const std::size_t position = places.front() + lane;
            return position < kLanes ? position : position - kLanes;
        }
    }

    HWY_INLINE std::int8_t* messages(std::size_t edge) const { return messages_begin + edge * kPaddedLanes; }

    // Changes of a shared edge.
    HWY_INLINE std::int8_t* changes(std::size_t edge) const {
        return changes_begin + (edge - own_edges) * kPaddedLanes;
    }
};

// One for each of the vectors that are worked on side by side. No array: compilers keep the elements of one
// twice, and then not all of them in registers.
template <class T>
struct Abreast {
    T a, b, c;
#if HWY_TARGET <= HWY_AVX3
    T d, e, f;
#endif

    HWY_INLINE Abreast() {}
    template <class Make>
    HWY_INLINE explicit Abreast(Make make)
        : a(make(0)),
          b(make(1)),
          c(make(2))
#if HWY_TARGET <= HWY_AVX3
          ,
          d(make(3)),
          e(make(4)),
          f(make(5))
#endif
    {
    }

    template <class Visit>
    HWY_INLINE void each(Visit visit) {
        visit(a, 0);
        visit(b, 1);
        visit(c, 2);
#if HWY_TARGET <= HWY_AVX3
        visit(d, 3);
        visit(e, 4);
        visit(f, 5);
#endif
    }
};

// Value that an edge brings to the checks of a chunk, in the first sweep its bits alone; stored at `to`.
template <bool kFirstSweep, class Rule>
HWY_INLINE void bring(const LayerView layer, std::size_t edge, std::size_t chunk,
                      Abreast<Checks<Rule>>& checks, std::int8_t* to) {
    const std::int8_t* messages = layer.messages(edge) + chunk;
    const LdpcEdge& from = layer.edges[edge];
    const std::int8_t* column = layer.column(edge);
    checks.each([&](Checks<Rule>& check, std::size_t i) TIDEMILL_INLINE_LAMBDA {
        const auto posterior = hn::LoadU(kSigned, column + LayerView::place(from.places, chunk + i * kStep));
        const auto extrinsic =
            kFirstSweep ? posterior : hn::SaturatedSub(posterior, hn::Load(kSigned, messages + i * kStep));
        check.take(extrinsic);
        hn::Store(extrinsic, kSigned, to + i * kStep);
    });
}

// Messages give way to what the edges bring: of those that own their column, the old ones are not needed any
// more.
template <bool kFirstSweep, class Rule>
HWY_INLINE void ask(const LayerView layer, std::size_t chunk, Abreast<Answers>& answers) {
    Abreast<Checks<Rule>> checks([&](std::size_t) HWY_ATTR { return Checks<Rule>(layer.corrections); });
    std::size_t e = 0;
    do bring<kFirstSweep>(layer, e, chunk, checks, layer.messages(e) + chunk);
    while (++e < layer.own_edges);
    for (; e < layer.degree; ++e) bring<kFirstSweep>(layer, e, chunk, checks, layer.changes(e) + chunk);
    answers.a = Answers(checks.a);
    answers.b = Answers(checks.b);
    answers.c = Answers(checks.c);
#if HWY_TARGET <= HWY_AVX3
    answers.d = Answers(checks.d);
    answers.e = Answers(checks.e);
    answers.f = Answers(checks.f);
#endif
}

HWY_INLINE void answer_own(const LayerView layer, std::size_t edge, std::size_t chunk,
                           Abreast<Answers>& answers) {
    std::int8_t* messages = layer.messages(edge) + chunk;
    std::int8_t* bits = layer.column(edge) + chunk;
    answers.each([&](const Answers& answer, std::size_t i) TIDEMILL_INLINE_LAMBDA {
        const auto extrinsic = hn::Load(kSigned, messages + i * kStep);
        const auto message = answer.message(extrinsic);
        hn::Store(message, kSigned, messages + i * kStep);
        hn::Store(hn::SaturatedAdd(extrinsic, message), kSigned, bits + i * kStep);
    });
}

HWY_INLINE void answer_shared(const LayerView layer, std::size_t edge, std::size_t chunk,
                              Abreast<Answers>& answers) {
    std::int8_t* messages = layer.messages(edge) + chunk;
    std::int8_t* changes = layer.changes(edge) + chunk;
    answers.each([&](const Answers& answer, std::size_t i) TIDEMILL_INLINE_LAMBDA {
        const auto before = hn::Load(kSigned, messages + i * kStep);
        const auto message = answer.message(hn::Load(kSigned, changes + i * kStep));
        hn::Store(message, kSigned, messages + i * kStep);
        hn::Store(hn::SaturatedSub(message, before), kSigned, changes + i * kStep);
    });
}

HWY_INLINE void answer(const LayerView layer, std::size_t chunk, const Abreast<Answers>& given) {
    Abreast<Answers> answers = given;
    std::size_t e = 0;
    do answer_own(layer, e, chunk, answers);
    while (++e < layer.own_edges);
    for (; e < layer.degree; ++e) answer_shared(layer, e, chunk, answers);
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
    const LdpcEdge& from = layer.edges[edge];
    std::int8_t* column = layer.column(edge);
    const auto changed = [&](std::size_t lane, const std::int8_t* bits) HWY_ATTR {
        return hn::SaturatedAdd(hn::LoadU(kSigned, bits), hn::Load(kSigned, layer.changes(edge) + lane));
    };
    const auto bits_of = [&](std::size_t lane)
                             HWY_ATTR { return column + LayerView::place(from.places, lane); };
    constexpr std::size_t kWhole = kLanes / kStep * kStep;
    const auto first = changed(0, bits_of(0));
    // Behind its own bits the last vector has the first one's. A load that finds half of what it wants stored
    // a moment ago waits for long, so both are read before either is written. (Written by bytes, as Highway's
    // BlendedStore does with AVX2, it would take as long as all the others.)
    if constexpr (kWhole < kLanes) {
        std::int8_t* bits = bits_of(kWhole);
        hn::StoreU(hn::IfThenElse(real_lanes(kWhole), changed(kWhole, bits), hn::LoadU(kSigned, bits)),
                   kSigned, bits);
    }
    hn::StoreU(first, kSigned, bits_of(0));
    for (std::size_t lane = kStep; lane < kWhole; lane += kStep)
        hn::StoreU(changed(lane, bits_of(lane)), kSigned, bits_of(lane));
    close_ring(layer, edge);
}

// All bits are read before the first is written: a column that one edge owns is left in the order of this
// layer's checks, to be read from another start by the next one.
template <bool kFirstSweep, class Rule>
HWY_INLINE void process(const LayerView layer) {
    Abreast<Answers> answers[kChunks];
    if (kFirstSweep) {
        for (std::size_t e = layer.own_edges; e < layer.degree; ++e)
            std::fill_n(layer.messages(e), kPaddedLanes, std::int8_t{0});
    }
    for (std::size_t c = 0; c < kChunks; ++c) ask<kFirstSweep, Rule>(layer, c * kChunk, answers[c]);
    for (std::size_t c = 0; c < kChunks; ++c) answer(layer, c * kChunk, answers[c]);
    for (std::size_t e = 0; e < layer.own_edges; ++e)
        hn::StoreU(hn::Load(kSigned, layer.column(e)), kSigned, layer.column(e) + kLanes);
    for (std::size_t e = layer.own_edges; e < layer.degree; ++e) add_changes(layer, e);
}

// How many checks of the layer the bits fail, as they lie between two sweeps.
HWY_INLINE std::size_t failed_checks(const LayerView layer) {
    std::size_t failed = 0;
    for (std::size_t chunk = 0; chunk < kPaddedLanes; chunk += 3 * kStep) {
        auto a = hn::Zero(kSigned), b = a, c = a;
        for (std::size_t e = 0; e < layer.degree; ++e) {
            const LdpcEdge::Places& places = layer.edges[e].rest_places;
            const std::int8_t* column = layer.column(e);
            const auto bits = [&](std::size_t vector) HWY_ATTR {
                return hn::LoadU(kSigned, column + LayerView::place(places, chunk + vector * kStep));
            };
            a = hn::Xor(a, bits(0));
            b = hn::Xor(b, bits(1));
            c = hn::Xor(c, bits(2));
        }
        const auto count = [&](SignedVec parity, std::size_t vector) HWY_ATTR {
            const std::size_t lane = chunk + vector * kStep;
            if (lane >= kLanes) return std::size_t{0};
            return hn::CountTrue(kSigned,
                                 hn::Lt(hn::IfThenElseZero(real_lanes(lane), parity), hn::Zero(kSigned)));
        };
        failed += count(a, 0) + count(b, 1) + count(c, 2);
    }
    return failed;
}

// The check of parity bit 0 has no earlier parity bit. Its lane 0 meets instead a bit that is surely 0.
constexpr std::int8_t kSurelyZero = 127;

template <bool kFirstSweep, class Rule>
HWY_INLINE void sweep_layers(const LdpcSchedule& schedule, LdpcMemory& memory) {
    const LayerView first(schedule, schedule.layers.front(), memory);
    const LdpcEdge& open = first.edges[schedule.open_edge];
    const std::int8_t last_parity_bit =
        std::exchange(first.column(schedule.open_edge)[open.start], kSurelyZero);
    process<kFirstSweep, Rule>(first);
    first.messages(schedule.open_edge)[0] = 0;
    first.column(schedule.open_edge)[0] = last_parity_bit;
    first.column(schedule.open_edge)[kLanes] = last_parity_bit;
    for (std::size_t i = 1; i < schedule.layers.size(); ++i)
        process<kFirstSweep, Rule>(LayerView(schedule, schedule.layers[i], memory));
}

void sweep(const LdpcSchedule& schedule, LdpcSweep kind, LdpcMemory& memory) {
    switch (kind) {
        case LdpcSweep::first:
            return sweep_layers<true, LeastTwo>(schedule, memory);
        case LdpcSweep::fast:
            return sweep_layers<false, LeastTwo>(schedule, memory);
        case LdpcSweep::fine:
            return sweep_layers<false, LeastAndRest>(schedule, memory);
    }
}

std::size_t count_failed(const LdpcSchedule& schedule, std::size_t most, LdpcMemory& memory) {
    const LayerView first(schedule, schedule.layers.front(), memory);
    std::int8_t* last_parity_bit =
        first.column(schedule.open_edge) + first.edges[schedule.open_edge].rest_start;
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

void ldpc_sweep(const LdpcSchedule& schedule, LdpcSweep kind, LdpcMemory& memory) {
    HWY_DYNAMIC_DISPATCH(sweep)(schedule, kind, memory);
}

std::size_t ldpc_failed_checks(const LdpcSchedule& schedule, std::size_t most, LdpcMemory& memory) {
    return HWY_DYNAMIC_DISPATCH(count_failed)(schedule, most, memory);
}

}  // namespace tidemill::fec
#endif
