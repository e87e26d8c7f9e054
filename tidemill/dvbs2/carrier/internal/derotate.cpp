#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dvbs2/carrier/internal/derotate.cpp"
#include "tidemill/dvbs2/carrier/internal/derotate.hpp"

#include <array>
#include <cassert>
#include <cmath>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/complex_product.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dvbs2::internal::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
struct ComplexVec {
    hn::Vec<D> re, im;

    ComplexVec times(const ComplexVec& b) const {
        return {hn::NegMulAdd(im, b.im, hn::Mul(re, b.re)), hn::MulAdd(re, b.im, hn::Mul(im, b.re))};
    }
};

template <class D>
ComplexVec<D> load(D d, const float* from) {
    hn::Vec<D> re, im;
    hn::LoadInterleaved2(d, from, re, im);
    return {re, im};
}

// exp(-j (start + i step)) in lane i, and what turns it on by all lanes.
struct Oscillator {
    static constexpr std::size_t kMostLanes = hn::MaxLanes(hn::ScalableTag<float>());
    alignas(64) std::array<float, kMostLanes> re{}, im{};
    std::complex<double> stride;

    Oscillator(const PhaseLine& line, std::size_t lanes) : stride(std::polar(1.0, -line.step)) {
        std::array<std::complex<double>, kMostLanes> value{std::polar(1.0, -line.start)};
        for (std::size_t done = 1; done < lanes; done *= 2) {
            for (std::size_t i = 0; i < done; ++i) value[done + i] = dsp::product(value[i], stride);
            stride = dsp::product(stride, stride);
        }
        for (std::size_t i = 0; i < lanes; ++i) {
            re[i] = static_cast<float>(value[i].real());
            im[i] = static_cast<float>(value[i].imag());
        }
    }
};

// A few symbols are left at the end, less than a vector of them.
void derotate_all(const float* in, const float* factor, const PhaseLine& line, float* out,
                  std::size_t count) {
    const hn::ScalableTag<float> d;
    using Vec = ComplexVec<hn::ScalableTag<float>>;
    const std::size_t lanes = hn::Lanes(d);
    Oscillator oscillator(line, lanes);
    const Vec step{hn::Set(d, static_cast<float>(oscillator.stride.real())),
                   hn::Set(d, static_cast<float>(oscillator.stride.imag()))};
    Vec turn{hn::Load(d, oscillator.re.data()), hn::Load(d, oscillator.im.data())};
    std::size_t done = 0;
    for (; done + lanes <= count; done += lanes) {
        const auto product = load(d, in + 2 * done).times(load(d, factor + 2 * done)).times(turn);
        hn::StoreInterleaved2(product.re, product.im, d, out + 2 * done);
        turn = turn.times(step);
    }
    hn::Store(turn.re, d, oscillator.re.data());
    hn::Store(turn.im, d, oscillator.im.data());
    const hn::CappedTag<float, 1> one;
    for (std::size_t i = 0; done < count; ++done, ++i) {
        const ComplexVec<hn::CappedTag<float, 1>> last{hn::Set(one, oscillator.re[i]),
                                                       hn::Set(one, oscillator.im[i])};
        const auto product = load(one, in + 2 * done).times(load(one, factor + 2 * done)).times(last);
        hn::StoreInterleaved2(product.re, product.im, one, out + 2 * done);
    }
}

}  // namespace tidemill::dvbs2::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dvbs2::internal {

HWY_EXPORT(derotate_all);

void derotate(std::span<const dsp::Iq> in, std::span<const dsp::Iq> factor, const PhaseLine& line,
              std::span<dsp::Iq> out) {
    assert(in.size() == factor.size() && in.size() == out.size());
    // A complex number is stored as its two parts, by the standard's guarantee.
    HWY_DYNAMIC_DISPATCH(derotate_all)
    (reinterpret_cast<const float*>(in.data()), reinterpret_cast<const float*>(factor.data()), line,
     reinterpret_cast<float*>(out.data()), in.size());
}

}  // namespace tidemill::dvbs2::internal
#endif
