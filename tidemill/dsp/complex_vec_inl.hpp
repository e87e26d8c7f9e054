// For each instruction set once more: to be included behind highway.h by files that foreach_target.h
// includes again.
#if defined(TIDEMILL_DSP_COMPLEX_VEC_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TIDEMILL_DSP_COMPLEX_VEC_INL_HPP
#undef TIDEMILL_DSP_COMPLEX_VEC_INL_HPP
#else
#define TIDEMILL_DSP_COMPLEX_VEC_INL_HPP
#endif

#include <complex>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {

/// As many complex numbers as a vector has lanes, their real and imaginary parts apart.
template <class D>
struct ComplexVec {
    hwy::HWY_NAMESPACE::Vec<D> re, im;

    HWY_INLINE ComplexVec times(const ComplexVec& b) const {
        namespace hn = hwy::HWY_NAMESPACE;
        return {hn::NegMulAdd(im, b.im, hn::Mul(re, b.re)), hn::MulAdd(re, b.im, hn::Mul(im, b.re))};
    }
};

/// One number in all lanes.
template <class D>
HWY_INLINE ComplexVec<D> everywhere(D d, std::complex<float> x) {
    return {hwy::HWY_NAMESPACE::Set(d, x.real()), hwy::HWY_NAMESPACE::Set(d, x.imag())};
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
