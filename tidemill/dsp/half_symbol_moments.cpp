#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/half_symbol_moments.cpp"
#include "tidemill/dsp/half_symbol_moments.hpp"

#include <cassert>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The real part of conj(a) * b is the plain dot product of the interleaved floats.
struct Sums {
    using D = hn::ScalableTag<float>;
    hn::Vec<D> even_power, odd_power, rising, falling;

    HWY_INLINE Sums()
        : even_power(hn::Zero(D())), odd_power(even_power), rising(even_power), falling(rising) {}

    HWY_INLINE void add(const float* even, const float* odd) {
        const D d;
        const auto e = hn::LoadU(d, even), o = hn::LoadU(d, odd), before = hn::LoadU(d, odd - 2);
        even_power = hn::MulAdd(e, e, even_power);
        odd_power = hn::MulAdd(o, o, odd_power);
        rising = hn::MulAdd(e, o, rising);
        falling = hn::MulAdd(before, e, falling);
    }
};

// In two chains of sums of which neither waits for the other.
HalfSymbolMoments moments_of(const float* even, const float* odd, std::size_t floats) {
    const Sums::D d;
    const std::size_t width = hn::Lanes(d);
    Sums first, second;
    std::size_t n = 2;
    for (; n + 2 * width <= floats; n += 2 * width) {
        first.add(even + n, odd + n);
        second.add(even + n + width, odd + n + width);
    }
    if (n + width <= floats) {
        first.add(even + n, odd + n);
        n += width;
    }
    const auto sum = [&](auto a, auto b) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b))); };
    HalfSymbolMoments m{sum(first.even_power, second.even_power), sum(first.odd_power, second.odd_power),
                        sum(first.rising, second.rising), sum(first.falling, second.falling)};
    for (; n < floats; ++n) {
        m.even_power += even[n] * even[n];
        m.odd_power += odd[n] * odd[n];
        m.rising += even[n] * odd[n];
        m.falling += odd[n - 2] * even[n];
    }
    return m;
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(moments_of);

HalfSymbolMoments half_symbol_moments(SplitView x) {
    assert(!x.even.empty() && x.even.size() == x.odd.size());
    return HWY_DYNAMIC_DISPATCH(moments_of)(reinterpret_cast<const float*>(x.even.data()),
                                            reinterpret_cast<const float*>(x.odd.data()), 2 * x.even.size());
}

}  // namespace tidemill::dsp
#endif
