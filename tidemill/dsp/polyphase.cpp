#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/polyphase.cpp"
#include "tidemill/dsp/polyphase.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Dot product of interleaved samples with doubled taps; floats is a multiple of two vectors. Wider vectors
// would lie across cache lines nearly wherever they start.
#if HWY_TARGET == HWY_SCALAR
Iq doubled_dot(const float* x, const float* taps, std::size_t floats) {
    Iq sum{};
    for (std::size_t n = 0; n < floats; n += 2) sum += taps[n] * Iq(x[n], x[n + 1]);
    return sum;
}
#else
using DotLanes = hn::CappedTag<float, 8>;

// Real parts and imaginary parts together: the halves are added until one pair is left.
Iq sum_of_pairs(hn::Vec<DotLanes> sum) {
    const DotLanes d;
#if HWY_HAVE_SCALABLE
    return {hn::GetLane(hn::SumOfLanes(d, hn::OddEven(hn::Zero(d), sum))),
            hn::GetLane(hn::SumOfLanes(d, hn::OddEven(sum, hn::Zero(d))))};
#else
#if HWY_MAX_BYTES > 16
    sum = hn::Add(sum, hn::SwapAdjacentBlocks(sum));
#endif
    sum = hn::Add(sum, hn::Shuffle1032(sum));
    const hn::Repartition<double, decltype(d)> pair;
    return std::bit_cast<Iq>(hn::GetLane(hn::BitCast(pair, sum)));
#endif
}

Iq doubled_dot(const float* x, const float* taps, std::size_t floats) {
    const DotLanes d;
    const std::size_t width = hn::Lanes(d);
    auto a = hn::Zero(d), b = hn::Zero(d);
    for (std::size_t n = 0; n < floats; n += 2 * width) {
        a = hn::MulAdd(hn::LoadU(d, x + n), hn::LoadU(d, taps + n), a);
        b = hn::MulAdd(hn::LoadU(d, x + n + width), hn::LoadU(d, taps + n + width), b);
    }
    return sum_of_pairs(hn::Add(a, b));
}
#endif

void evaluate_bank(const float* x, const float* taps, std::size_t phases, std::size_t stride, double first,
                   double step, Iq* y, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const double position = first + static_cast<double>(i) * step;
        const double whole = std::floor(position);
        const double nearest = (position - whole) * static_cast<double>(phases) + 0.5;
        const auto phase = static_cast<std::size_t>(nearest);
        y[i] = doubled_dot(x + 2 * static_cast<std::size_t>(whole), taps + phase * stride, stride);
    }
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(evaluate_bank);

namespace {

constexpr std::size_t kRowFloats = 16;  // two vectors of 32 bytes

}  // namespace

PolyphaseBank::PolyphaseBank(std::size_t taps, std::size_t phases,
                             const std::function<double(double)>& response)
    : phases_(phases),
      stride_((2 * taps + kRowFloats - 1) / kRowFloats * kRowFloats),
      taps_((phases + 1) * stride_) {
    assert(taps % 2 == 0 && phases > 0);
    const std::size_t middle = taps / 2 - 1;
    for (std::size_t p = 0; p <= phases; ++p) {
        for (std::size_t k = 0; k < taps; ++k) {
            const double t = static_cast<double>(k) - static_cast<double>(middle) -
                             static_cast<double>(p) / static_cast<double>(phases);
            float* pair = taps_.data() + p * stride_ + 2 * k;
            pair[0] = pair[1] = static_cast<float>(response(t));
        }
    }
}

void PolyphaseBank::evaluate(std::span<const Iq> x, double first, double step, std::span<Iq> y) const {
    assert(first >= 0.0);
    assert(y.empty() ||
           x.size() >= static_cast<std::size_t>(first + step * static_cast<double>(y.size() - 1)) + reach());
    HWY_DYNAMIC_DISPATCH(evaluate_bank)
    (reinterpret_cast<const float*>(x.data()), taps_.data(), phases_, stride_, first, step, y.data(),
     y.size());
}

}  // namespace tidemill::dsp
#endif
