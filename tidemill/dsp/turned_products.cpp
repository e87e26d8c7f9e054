#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/turned_products.cpp"
#include "tidemill/dsp/turned_products.hpp"

#include <cassert>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Does whole vectors from number `done` on and adds to `sums`; returns how many are done then.
template <class D>
std::size_t multiply_vectors(D d, const float* x, const float* factors, const float* turns, float* products,
                             std::size_t done, std::size_t count, ProductSums& sums) {
    using Vec = hn::Vec<D>;
    Vec sum_re = hn::Zero(d), sum_im = sum_re, energy = sum_re;
    for (; done + hn::Lanes(d) <= count; done += hn::Lanes(d)) {
        Vec x_re, x_im, f_re, f_im, t_re, t_im;
        hn::LoadInterleaved2(d, x + 2 * done, x_re, x_im);
        hn::LoadInterleaved2(d, factors + 2 * done, f_re, f_im);
        hn::LoadInterleaved2(d, turns + 2 * done, t_re, t_im);
        const Vec p_re = hn::NegMulAdd(x_im, f_im, hn::Mul(x_re, f_re));
        const Vec p_im = hn::MulAdd(x_re, f_im, hn::Mul(x_im, f_re));
        const Vec re = hn::NegMulAdd(p_im, t_im, hn::Mul(p_re, t_re));
        const Vec im = hn::MulAdd(p_re, t_im, hn::Mul(p_im, t_re));
        hn::StoreInterleaved2(re, im, d, products + 2 * done);
        sum_re = hn::Add(sum_re, re);
        sum_im = hn::Add(sum_im, im);
        energy = hn::MulAdd(x_re, x_re, hn::MulAdd(x_im, x_im, energy));
    }
    const auto all = [&](Vec v) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(d, v)); };
    sums.sum += Iq(all(sum_re), all(sum_im));
    sums.energy += all(energy);
    return done;
}

ProductSums multiply_all(const float* x, const float* factors, const float* turns, float* products,
                         std::size_t count) {
    ProductSums sums;
    const std::size_t done =
        multiply_vectors(hn::CappedTag<float, 8>(), x, factors, turns, products, 0, count, sums);
    multiply_vectors(hn::CappedTag<float, 1>(), x, factors, turns, products, done, count, sums);
    return sums;
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(multiply_all);

ProductSums turned_products(std::span<const Iq> x, std::span<const Iq> factors, std::span<const Iq> turns,
                            std::span<Iq> products) {
    assert(factors.size() == x.size() && turns.size() == x.size() && products.size() == x.size());
    const auto numbers = [](std::span<const Iq> some) { return reinterpret_cast<const float*>(some.data()); };
    return HWY_DYNAMIC_DISPATCH(multiply_all)(numbers(x), numbers(factors), numbers(turns),
                                              reinterpret_cast<float*>(products.data()), x.size());
}

}  // namespace tidemill::dsp
#endif
