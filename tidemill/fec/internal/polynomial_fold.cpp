#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/fec/internal/polynomial_fold.cpp"
#include "tidemill/fec/internal/polynomial_fold.hpp"

#include <algorithm>
#include <cassert>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::fec::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Elsewhere Highway makes a product of polynomials of many instructions.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4 && HWY_TARGET != HWY_SCALAR

using Words = hn::CappedTag<std::uint64_t, 2>;
using Bytes = hn::Repartition<std::uint8_t, Words>;
using Vec = hn::Vec<Words>;
constexpr std::size_t kStep = 16;

// 128 bits, the higher powers in the upper word; and back.
HWY_INLINE Vec turned(Vec x) {
    alignas(16) constexpr std::uint8_t kBackwards[kStep] = {15, 14, 13, 12, 11, 10, 9, 8,
                                                            7,  6,  5,  4,  3,  2,  1, 0};
    return hn::BitCast(Words(), hn::TableLookupBytes(hn::BitCast(Bytes(), x), hn::Load(Bytes(), kBackwards)));
}
HWY_INLINE Vec load(const std::uint8_t* bytes) {
    return turned(hn::BitCast(Words(), hn::LoadU(Bytes(), bytes)));
}
HWY_INLINE void store(Vec x, std::uint8_t* bytes) {
    hn::StoreU(hn::BitCast(Bytes(), turned(x)), Bytes(), bytes);
}

// Word i of both powers, each beside the word that it is multiplied by.
HWY_INLINE Vec factors(const FoldingPowers& powers, std::size_t i) {
    alignas(16) const std::uint64_t both[2] = {powers.x256[i], powers.x320[i]};
    return hn::Load(Words(), both);
}

// The first 128 of 256 bits are taken away and their products with the powers added to what follows them.
bool fold_all(const std::uint8_t* message, std::size_t size, const FoldingPowers& powers,
              std::uint8_t* folded) {
    const Vec high = factors(powers, 0), middle = factors(powers, 1), low = factors(powers, 2);
    const auto product = [](Vec x, Vec y)
                             HWY_ATTR { return hn::Xor(hn::CLMulUpper(x, y), hn::CLMulLower(x, y)); };
    // Zeros before a message do not change it.
    HWY_ALIGN std::uint8_t begin[kStep] = {};
    const std::size_t odd_bytes = size % kStep;
    std::copy_n(message, odd_bytes, begin + kStep - odd_bytes);
    Vec first = load(begin), second = load(message + odd_bytes);
    for (std::size_t at = odd_bytes + kStep; at < size; at += kStep) {
        const Vec across = product(first, middle);
        const Vec next =
            hn::Xor(hn::Xor(second, product(first, high)), hn::ShiftRightBytes<8>(Words(), across));
        second =
            hn::Xor(hn::Xor(load(message + at), product(first, low)), hn::ShiftLeftBytes<8>(Words(), across));
        first = next;
    }
    store(first, folded);
    store(second, folded + kStep);
    return true;
}

#else

bool fold_all(const std::uint8_t*, std::size_t, const FoldingPowers&, std::uint8_t*) {
    return false;
}

#endif

}  // namespace

bool fold_message(const std::uint8_t* message, std::size_t size, const FoldingPowers& powers,
                  std::uint8_t* folded) {
    return fold_all(message, size, powers, folded);
}

}  // namespace tidemill::fec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::fec {

HWY_EXPORT(fold_message);

bool fold(std::span<const std::uint8_t> message, const FoldingPowers& powers,
          std::span<std::uint8_t, kFoldedBytes> folded) {
    assert(message.size() >= kFoldedBytes);
    return HWY_DYNAMIC_DISPATCH(fold_message)(message.data(), message.size(), powers, folded.data());
}

}  // namespace tidemill::fec
#endif
