// For each instruction set once more: to be included behind highway.h by files that foreach_target.h
// includes again.
#if defined(TIDEMILL_DSP_DOT_PRODUCT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TIDEMILL_DSP_DOT_PRODUCT_INL_HPP
#undef TIDEMILL_DSP_DOT_PRODUCT_INL_HPP
#else
#define TIDEMILL_DSP_DOT_PRODUCT_INL_HPP
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3_DL

/// Adds to each sum the products of two pairs of 16-bit numbers. As _mm512_dpwssd_epi32(), which is not among
/// the instructions that Highway lets compilers use here.
template <class Sums, class Numbers>
HWY_INLINE void add_products(Sums& sums, Numbers a, Numbers b) {
    asm("vpdpwssd %2, %1, %0" : "+v"(sums.raw) : "v"(a.raw), "v"(b.raw));
}

#endif

/// The dot product of 16-bit numbers, vector by vector; D is their tag. It must stay within 32 bits.
template <class D>
class DotProduct {
  public:
#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold the sum of a pair
    HWY_INLINE void add(hwy::HWY_NAMESPACE::Vec<D> a, hwy::HWY_NAMESPACE::Vec<D> b) {
        sum_ += std::int32_t{hwy::HWY_NAMESPACE::GetLane(a)} * hwy::HWY_NAMESPACE::GetLane(b);
    }
    HWY_INLINE std::int32_t all() const {
        return sum_;
    }

  private:
    std::int32_t sum_ = 0;
#else
    HWY_INLINE DotProduct() : sum_(hwy::HWY_NAMESPACE::Zero(Sums())), rest_(sum_) {}
    HWY_INLINE void add(hwy::HWY_NAMESPACE::Vec<D> a, hwy::HWY_NAMESPACE::Vec<D> b) {
#if HWY_TARGET == HWY_AVX3_DL
        add_products(sum_, a, b);
#else
        sum_ = hwy::HWY_NAMESPACE::ReorderWidenMulAccumulate(Sums(), a, b, sum_, rest_);
#endif
    }
    HWY_INLINE std::int32_t all() const {
        namespace hn = hwy::HWY_NAMESPACE;
        return hn::GetLane(hn::SumOfLanes(Sums(), hn::Add(sum_, rest_)));
    }

  private:
    using Sums = hwy::HWY_NAMESPACE::RepartitionToWide<D>;
    hwy::HWY_NAMESPACE::Vec<Sums> sum_, rest_;
#endif
};

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
