#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dvbs2/carrier/internal/power_sum.cpp"
#include "tidemill/dvbs2/carrier/internal/power_sum.hpp"

#include <cassert>
#include <limits>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dvbs2::internal::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Adds the powers of whole vectors from symbol `done` on to `sum`; returns how many symbols are done then.
template <class D>
std::size_t add_vectors(D d, const float* symbols, int order, std::size_t done, std::size_t count,
                        std::complex<float>& sum) {
    using V = hn::Vec<D>;
    const V smallest = hn::Set(d, std::numeric_limits<float>::min());
    V sum_re = hn::Zero(d), sum_im = hn::Zero(d);
    for (; done + hn::Lanes(d) <= count; done += hn::Lanes(d)) {
        V x, y;
        hn::LoadInterleaved2(d, symbols + 2 * done, x, y);
        const V square_re = hn::NegMulAdd(y, y, hn::Mul(x, x));
        const V square_im = hn::Mul(hn::Add(x, x), y);
        const V shorten = hn::Div(hn::Set(d, 1.0F), hn::Max(hn::MulAdd(x, x, hn::Mul(y, y)), smallest));
        const V short_re = hn::Mul(square_re, shorten), short_im = hn::Mul(square_im, shorten);
        // The fourth power with length 1, and then with that of the square.
        const V turn_re = hn::NegMulAdd(short_im, short_im, hn::Mul(short_re, short_re));
        const V turn_im = hn::Mul(hn::Add(short_re, short_re), short_im);
        V re = hn::NegMulAdd(square_im, short_im, hn::Mul(square_re, short_re));
        V im = hn::MulAdd(square_re, short_im, hn::Mul(square_im, short_re));
        for (int done_order = 4; done_order < order; done_order += 4) {
            const V turned_re = hn::NegMulAdd(im, turn_im, hn::Mul(re, turn_re));
            im = hn::MulAdd(re, turn_im, hn::Mul(im, turn_re));
            re = turned_re;
        }
        sum_re = hn::Add(sum_re, re);
        sum_im = hn::Add(sum_im, im);
    }
    sum +=
        std::complex<float>(hn::GetLane(hn::SumOfLanes(d, sum_re)), hn::GetLane(hn::SumOfLanes(d, sum_im)));
    return done;
}

std::complex<float> sum_powers(const float* symbols, int order, std::size_t count) {
    std::complex<float> sum{};
    const std::size_t done = add_vectors(hn::ScalableTag<float>(), symbols, order, 0, count, sum);
    add_vectors(hn::CappedTag<float, 1>(), symbols, order, done, count, sum);
    // Fourth powers of points on the diagonals are -1, and so are twelfth powers of 16APSK.
    return order % 8 == 0 ? sum : -sum;
}

}  // namespace tidemill::dvbs2::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dvbs2::internal {

HWY_EXPORT(sum_powers);

std::complex<float> power_sum(std::span<const dsp::Iq> symbols, int order) {
    assert(order >= 4 && order <= 16 && order % 4 == 0);
    return HWY_DYNAMIC_DISPATCH(sum_powers)(reinterpret_cast<const float*>(symbols.data()), order,
                                            symbols.size());
}

}  // namespace tidemill::dvbs2::internal
#endif
