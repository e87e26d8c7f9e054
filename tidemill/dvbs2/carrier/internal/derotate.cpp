#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dvbs2/carrier/internal/derotate.cpp"
#include "tidemill/dvbs2/carrier/internal/derotate.hpp"

#include <array>
#include <cassert>
#include <cmath>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

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

// exp(-j (start + i step)) in lane i.
template <class D>
ComplexVec<D> oscillator(D d, const PhaseLine& line) {
    alignas(64) std::array<float, hn::MaxLanes(D())> re{};
    alignas(64) std::array<float, hn::MaxLanes(D())> im{};
    const std::complex<double> step = std::polar(1.0, -line.step);
    std::complex<double> value = std::polar(1.0, -line.start);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
        re[i] = static_cast<float>(value.real());
        im[i] = static_cast<float>(value.imag());
        value = {value.real() * step.real() - value.imag() * step.imag(),
                 value.real() * step.imag() + value.imag() * step.real()};
    }
    return {hn::Load(d, re.data()), hn::Load(d, im.data())};
}

// Does whole vectors from symbol `done` on; returns how many symbols are done then.
template <class D>
std::size_t derotate_vectors(D d, const float* in, const float* factor, const PhaseLine& line, float* out,
                             std::size_t done, std::size_t count) {
    const std::size_t lanes = hn::Lanes(d);
    auto turn = oscillator(d, {line.start + static_cast<double>(done) * line.step, line.step});
    const std::complex<double> stride = std::polar(1.0, -line.step * static_cast<double>(lanes));
    const ComplexVec<D> step{hn::Set(d, static_cast<float>(stride.real())),
                             hn::Set(d, static_cast<float>(stride.imag()))};
    for (; done + lanes <= count; done += lanes) {
        const auto product = load(d, in + 2 * done).times(load(d, factor + 2 * done)).times(turn);
        hn::StoreInterleaved2(product.re, product.im, d, out + 2 * done);
        turn = turn.times(step);
    }
    return done;
}

void derotate_all(const float* in, const float* factor, const PhaseLine& line, float* out,
                  std::size_t count) {
    const std::size_t done = derotate_vectors(hn::ScalableTag<float>(), in, factor, line, out, 0, count);
    derotate_vectors(hn::CappedTag<float, 1>(), in, factor, line, out, done, count);
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
