#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/fec/ldpc_batch_decoder.cpp"
#include "tidemill/fec/ldpc_batch_decoder.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/fec/internal/ldpc_graph.hpp"
#include "tidemill/fec/internal/ldpc_kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::fec::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kFrames = LdpcBatchDecoder::kFrames;

using Tag = hn::CappedTag<std::int8_t, kFrames>;

template <class Vector>
Vector magnitude_of(Tag d, Vector x) {
    return hn::Max(x, hn::SaturatedSub(hn::Zero(d), x));
}

// One check of as many frames as a vector has lanes. The first pass leaves the extrinsic values where the
// messages were.
void update_check(const std::uint32_t* bits, std::size_t edges, std::int8_t* posteriors,
                  std::int8_t* messages) {
    const Tag d;
    auto least = hn::Set(d, kLdpcMagnitudeCap), second = least, sign = hn::Zero(d);
    for (std::size_t e = 0; e < edges; ++e) {
        const auto x = hn::SaturatedSub(hn::Load(d, posteriors + bits[e] * kFrames),
                                        hn::Load(d, messages + e * kFrames));
        hn::Store(x, d, messages + e * kFrames);
        const auto magnitude = magnitude_of(d, x);
        second = hn::Min(second, hn::Max(least, magnitude));
        least = hn::Min(least, magnitude);
        sign = hn::Xor(sign, x);
    }
    const auto reduced = [&](auto x) { return hn::Max(hn::Sub(x, hn::Set(d, kLdpcOffset)), hn::Zero(d)); };
    const auto for_most = reduced(least), for_least = reduced(second);
    for (std::size_t e = 0; e < edges; ++e) {
        const auto x = hn::Load(d, messages + e * kFrames);
        const auto other = hn::IfThenElse(hn::Eq(magnitude_of(d, x), least), for_least, for_most);
        const auto is_negative = hn::Lt(hn::Xor(sign, x), hn::Zero(d));
        const auto message = hn::IfThenElse(is_negative, hn::Sub(hn::Zero(d), other), other);
        hn::Store(message, d, messages + e * kFrames);
        hn::Store(hn::SaturatedAdd(x, message), d, posteriors + bits[e] * kFrames);
    }
}

void sweep_batch(const LdpcGraph& graph, std::int8_t* posteriors, std::int8_t* messages) {
    for (std::size_t check = 0; check < graph.checks(); ++check) {
        const std::size_t first = graph.first[check], edges = graph.first[check + 1] - first;
        for (std::size_t frame = 0; frame < kFrames; frame += hn::Lanes(Tag{})) {
            update_check(graph.bits.data() + first, edges, posteriors + frame,
                         messages + first * kFrames + frame);
        }
    }
}

bool all_are_codewords(const LdpcGraph& graph, const std::int8_t* posteriors) {
    const Tag d;
    for (std::size_t check = 0; check < graph.checks(); ++check) {
        for (std::size_t frame = 0; frame < kFrames; frame += hn::Lanes(d)) {
            auto sign = hn::Zero(d);
            for (std::size_t e = graph.first[check]; e < graph.first[check + 1]; ++e)
                sign = hn::Xor(sign, hn::Load(d, posteriors + graph.bits[e] * kFrames + frame));
            if (!hn::AllFalse(d, hn::Lt(sign, hn::Zero(d)))) return false;
        }
    }
    return true;
}

}  // namespace tidemill::fec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::fec {

HWY_EXPORT(sweep_batch);
HWY_EXPORT(all_are_codewords);

namespace {

using Block = std::array<std::uint64_t, 8>;

// Bytes of eight rows of eight change rows and columns.
void transpose(Block& rows) {
    const auto exchange = [&](std::size_t distance, std::uint64_t low_parts) {
        for (std::size_t row = 0; row < 8; ++row) {
            if (row & distance) continue;
            std::uint64_t& a = rows[row];
            std::uint64_t& b = rows[row + distance];
            const std::uint64_t changed = ((a >> (8 * distance)) ^ b) & low_parts;
            a ^= changed << (8 * distance);
            b ^= changed;
        }
    };
    exchange(4, 0x00000000ffffffff);
    exchange(2, 0x0000ffff0000ffff);
    exchange(1, 0x00ff00ff00ff00ff);
}

// The signs of eight bytes in one, the first one's leading.
std::uint8_t signs_of(std::uint64_t bytes) {
    return static_cast<std::uint8_t>((((bytes >> 7) & 0x0101010101010101) * 0x8040201008040201) >> 56);
}

}  // namespace

LdpcBatchDecoder::LdpcBatchDecoder(const Dvbs2Code& code)
    : code_(code),
      graph_(std::make_shared<LdpcGraph>(code)),
      posteriors_(static_cast<std::size_t>(code.n)),
      messages_(graph_->bits.size()) {}

int LdpcBatchDecoder::decode(std::span<const Llr> llrs, int iterations, bool stop_early,
                             std::span<std::uint8_t> information) {
    assert(llrs.size() == kFrames * posteriors_.size());
    assert(8 * information.size() == kFrames * static_cast<std::size_t>(code_.k_ldpc));
    load(llrs);
    auto* posteriors = posteriors_.front().values.data();
    int sweep = 0;
    for (; sweep < iterations; ++sweep) {
        if (stop_early && HWY_DYNAMIC_DISPATCH(all_are_codewords)(*graph_, posteriors)) break;
        HWY_DYNAMIC_DISPATCH(sweep_batch)(*graph_, posteriors, messages_.front().values.data());
    }
    decide(information);
    return sweep;
}

void LdpcBatchDecoder::load(std::span<const Llr> llrs) {
    std::ranges::fill(messages_, Lanes{});
    Block block;
    for (std::size_t bit = 0; bit < posteriors_.size(); bit += 8) {
        for (std::size_t frame = 0; frame < kFrames; frame += 8) {
            for (std::size_t i = 0; i < 8; ++i)
                std::memcpy(&block[i], &llrs[(frame + i) * posteriors_.size() + bit], 8);
            transpose(block);
            for (std::size_t i = 0; i < 8; ++i)
                std::memcpy(&posteriors_[bit + i].values[frame], &block[i], 8);
        }
    }
}

void LdpcBatchDecoder::decide(std::span<std::uint8_t> information) const {
    const std::size_t frame_bytes = information.size() / kFrames;
    Block block;
    for (std::size_t byte = 0; byte < frame_bytes; ++byte) {
        for (std::size_t frame = 0; frame < kFrames; frame += 8) {
            for (std::size_t i = 0; i < 8; ++i)
                std::memcpy(&block[i], &posteriors_[8 * byte + i].values[frame], 8);
            transpose(block);
            for (std::size_t i = 0; i < 8; ++i)
                information[(frame + i) * frame_bytes + byte] = signs_of(block[i]);
        }
    }
}

std::size_t LdpcBatchDecoder::memory_bytes() const {
    return (posteriors_.size() + messages_.size()) * sizeof(Lanes);
}

}  // namespace tidemill::fec
#endif
