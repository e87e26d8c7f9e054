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
HalfSymbolMoments moments_of(const float* even, const float* odd, std::size_t floats) {
    const hn::ScalableTag<float> d;
    const std::size_t width = hn::Lanes(d);
    auto even_power = hn::Zero(d), odd_power = even_power, rising = even_power, falling = even_power;
    std::size_t n = 2;
    for (; n + width <= floats; n += width) {
        const auto e = hn::LoadU(d, even + n), o = hn::LoadU(d, odd + n), before = hn::LoadU(d, odd + n - 2);
        even_power = hn::MulAdd(e, e, even_power);
        odd_power = hn::MulAdd(o, o, odd_power);
        rising = hn::MulAdd(e, o, rising);
        falling = hn::MulAdd(before, e, falling);
    }
    HalfSymbolMoments m{hn::GetLane(hn::SumOfLanes(d, even_power)), hn::GetLane(hn::SumOfLanes(d, odd_power)),
                        hn::GetLane(hn::SumOfLanes(d, rising)), hn::GetLane(hn::SumOfLanes(d, falling))};
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
