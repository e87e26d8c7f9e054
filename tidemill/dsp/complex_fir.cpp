#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/complex_fir.cpp"
#include "tidemill/dsp/complex_fir.hpp"

#include <cassert>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The taps' real parts and their imaginary ones filter on their own, so that samples need not be taken apart;
// what the second made is turned by a quarter when all is added up. Returns how many floats are done.
std::size_t filter_by_parts(const float* x, const float* taps, std::size_t count, float* y,
                            std::size_t floats) {
    const hn::ScalableTag<float> d;
    const std::size_t width = hn::Lanes(d), block = 4 * width;
    alignas(64) float turned[4 * hn::MaxLanes(d)];
    std::size_t done = 0;
    for (; done + block <= floats; done += block) {
        auto r0 = hn::Zero(d), r1 = r0, r2 = r0, r3 = r0, i0 = r0, i1 = r0, i2 = r0, i3 = r0;
        for (std::size_t j = 0; j < count; ++j) {
            const auto re = hn::Set(d, taps[2 * j]), im = hn::Set(d, taps[2 * j + 1]);
            const float* from = x + done + 2 * j;
            const auto x0 = hn::LoadU(d, from), x1 = hn::LoadU(d, from + width);
            const auto x2 = hn::LoadU(d, from + 2 * width), x3 = hn::LoadU(d, from + 3 * width);
            r0 = hn::MulAdd(re, x0, r0), r1 = hn::MulAdd(re, x1, r1);
            r2 = hn::MulAdd(re, x2, r2), r3 = hn::MulAdd(re, x3, r3);
            i0 = hn::MulAdd(im, x0, i0), i1 = hn::MulAdd(im, x1, i1);
            i2 = hn::MulAdd(im, x2, i2), i3 = hn::MulAdd(im, x3, i3);
        }
        hn::StoreU(r0, d, y + done), hn::StoreU(r1, d, y + done + width);
        hn::StoreU(r2, d, y + done + 2 * width), hn::StoreU(r3, d, y + done + 3 * width);
        hn::StoreU(i0, d, turned), hn::StoreU(i1, d, turned + width);
        hn::StoreU(i2, d, turned + 2 * width), hn::StoreU(i3, d, turned + 3 * width);
        for (std::size_t n = 0; n < block; n += 2) {
            y[done + n] -= turned[n + 1];
            y[done + n + 1] += turned[n];
        }
    }
    return done;
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(filter_by_parts);

void complex_fir(std::span<const Iq> x, std::span<const Iq> taps, std::span<Iq> y) {
    assert(!taps.empty() && x.size() >= y.size() + taps.size() - 1);
    // A complex number is stored as its two parts, by the standard's guarantee.
    const std::size_t floats = HWY_DYNAMIC_DISPATCH(filter_by_parts)(
        reinterpret_cast<const float*>(x.data()), reinterpret_cast<const float*>(taps.data()), taps.size(),
        reinterpret_cast<float*>(y.data()), 2 * y.size());
    for (std::size_t n = floats / 2; n < y.size(); ++n) {
        y[n] = {};
        for (std::size_t j = 0; j < taps.size(); ++j) y[n] += taps[j] * x[n + j];
    }
}

}  // namespace tidemill::dsp
#endif
