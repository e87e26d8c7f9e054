#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/split_fir.cpp"
#include "tidemill/dsp/split_fir.hpp"

#include <cassert>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Four vectors of even and four of odd results: sixteen multiply-adds for eight loads, and few enough
// registers for AVX2.
std::size_t SplitFir(const float* even, const float* odd, const float* taps, std::size_t pairs,
                     std::size_t floats, float* even_out, float* odd_out) {
    const hn::ScalableTag<float> d;
    using Vec = hn::Vec<decltype(d)>;
    const std::size_t width = hn::Lanes(d);
    std::size_t at = 0;
    for (; at + 4 * width <= floats; at += 4 * width) {
        const float *e = even + at, *o = odd + at;
        Vec e0 = hn::LoadU(d, e), e1 = hn::LoadU(d, e + width), e2 = hn::LoadU(d, e + 2 * width),
            e3 = hn::LoadU(d, e + 3 * width);
        Vec ye0 = hn::Zero(d), ye1 = ye0, ye2 = ye0, ye3 = ye0, yo0 = ye0, yo1 = ye0, yo2 = ye0, yo3 = ye0;
        for (std::size_t q = 0; q < pairs; ++q, o += 2) {
            const Vec h0 = hn::Set(d, taps[2 * q]), h1 = hn::Set(d, taps[2 * q + 1]);
            const Vec o0 = hn::LoadU(d, o), o1 = hn::LoadU(d, o + width), o2 = hn::LoadU(d, o + 2 * width),
                      o3 = hn::LoadU(d, o + 3 * width);
            ye0 = hn::MulAdd(h1, o0, hn::MulAdd(h0, e0, ye0));
            ye1 = hn::MulAdd(h1, o1, hn::MulAdd(h0, e1, ye1));
            ye2 = hn::MulAdd(h1, o2, hn::MulAdd(h0, e2, ye2));
            ye3 = hn::MulAdd(h1, o3, hn::MulAdd(h0, e3, ye3));
            e += 2;
            e0 = hn::LoadU(d, e);
            e1 = hn::LoadU(d, e + width);
            e2 = hn::LoadU(d, e + 2 * width);
            e3 = hn::LoadU(d, e + 3 * width);
            yo0 = hn::MulAdd(h1, e0, hn::MulAdd(h0, o0, yo0));
            yo1 = hn::MulAdd(h1, e1, hn::MulAdd(h0, o1, yo1));
            yo2 = hn::MulAdd(h1, e2, hn::MulAdd(h0, o2, yo2));
            yo3 = hn::MulAdd(h1, e3, hn::MulAdd(h0, o3, yo3));
        }
        float *ye = even_out + at, *yo = odd_out + at;
        hn::StoreU(ye0, d, ye);
        hn::StoreU(ye1, d, ye + width);
        hn::StoreU(ye2, d, ye + 2 * width);
        hn::StoreU(ye3, d, ye + 3 * width);
        hn::StoreU(yo0, d, yo);
        hn::StoreU(yo1, d, yo + width);
        hn::StoreU(yo2, d, yo + 2 * width);
        hn::StoreU(yo3, d, yo + 3 * width);
    }
    return at / 2;
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(SplitFir);

namespace {

const float* floats(std::span<const Iq> x) {
    return reinterpret_cast<const float*>(x.data());
}
float* floats(std::span<Iq> x) {
    return reinterpret_cast<float*>(x.data());
}

}  // namespace

void split_fir(SplitView x, std::span<const float> taps, std::span<Iq> even_out, std::span<Iq> odd_out) {
    const std::size_t pairs = taps.size() / 2;
    assert(taps.size() % 2 == 0 && odd_out.size() == even_out.size());
    assert(x.even.size() >= even_out.size() + pairs && x.odd.size() >= even_out.size() + pairs);
    std::size_t n = HWY_DYNAMIC_DISPATCH(SplitFir)(floats(x.even), floats(x.odd), taps.data(), pairs,
                                                   2 * even_out.size(), floats(even_out), floats(odd_out));
    for (; n < even_out.size(); ++n) {
        Iq even{}, odd{};
        for (std::size_t q = 0; q < pairs; ++q) {
            even += taps[2 * q] * x.even[n + q] + taps[2 * q + 1] * x.odd[n + q];
            odd += taps[2 * q] * x.odd[n + q] + taps[2 * q + 1] * x.even[n + q + 1];
        }
        even_out[n] = even;
        odd_out[n] = odd;
    }
}

}  // namespace tidemill::dsp
#endif
