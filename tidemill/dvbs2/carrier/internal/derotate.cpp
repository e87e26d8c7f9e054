#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dvbs2/carrier/internal/derotate.cpp"
#include "tidemill/dvbs2/carrier/internal/derotate.hpp"

#include <algorithm>
#include <cassert>
#include <complex>
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/complex_product.hpp"
#include "tidemill/dsp/complex_vec_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dvbs2::internal::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, Derotator::kMostLanes>;
using Vec = hn::Vec<Lanes>;
constexpr Lanes kLanes;

using ComplexVec = dsp::HWY_NAMESPACE::ComplexVec<Lanes>;
using dsp::HWY_NAMESPACE::everywhere;

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE ComplexVec load(const float* from) {
    return {hn::Load(kLanes, from), hn::Load(kLanes, from + 1)};
}
HWY_INLINE void store(const ComplexVec& x, float* to) {
    hn::Store(x.re, kLanes, to);
    hn::Store(x.im, kLanes, to + 1);
}

#else

// Even lanes have the first half of them, odd ones the second: there and back it takes less than in order.
HWY_INLINE ComplexVec load(const float* from) {
    const Vec a = hn::LoadU(kLanes, from), b = hn::LoadU(kLanes, from + hn::Lanes(kLanes));
    return {hn::OddEven(hn::Reverse2(kLanes, b), a), hn::OddEven(b, hn::Reverse2(kLanes, a))};
}
HWY_INLINE void store(const ComplexVec& x, float* to) {
    hn::StoreU(hn::OddEven(hn::Reverse2(kLanes, x.im), x.re), kLanes, to);
    hn::StoreU(hn::OddEven(x.im, hn::Reverse2(kLanes, x.re)), kLanes, to + hn::Lanes(kLanes));
}

#endif

void derotate(const float* in, const float* factor, dsp::Iq start, const Derotator::Turns& turns, float* out,
              std::size_t count) {
    const std::size_t lanes = hn::Lanes(kLanes);
    const ComplexVec step = everywhere(kLanes, turns[lanes]);
    ComplexVec turn = load(reinterpret_cast<const float*>(turns.data())).times(everywhere(kLanes, start));
    const auto turn_back = [&](const float* x, const float* f, float* y)
                               HWY_ATTR { store(load(x).times(load(f)).times(turn), y); };
    std::size_t done = 0;
    for (; done + lanes <= count; done += lanes) {
        turn_back(in + 2 * done, factor + 2 * done, out + 2 * done);
        turn = turn.times(step);
    }
    if (done == count) return;
    HWY_ALIGN float x[2 * Derotator::kMostLanes] = {}, f[2 * Derotator::kMostLanes] = {};
    const std::size_t bytes = 2 * (count - done) * sizeof(float);
    std::memcpy(x, in + 2 * done, bytes);
    std::memcpy(f, factor + 2 * done, bytes);
    turn_back(x, f, x);
    std::memcpy(out + 2 * done, x, bytes);
}

}  // namespace tidemill::dvbs2::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dvbs2::internal {

HWY_EXPORT(derotate);

void Derotator::operator()(std::span<const dsp::Iq> in, std::span<const dsp::Iq> factor,
                           const PhaseLine& line, std::span<dsp::Iq> out) {
    assert(in.size() == factor.size() && in.size() == out.size());
    if (line.step != step_) {
        step_ = line.step;
        turns_ = turns_by(step_);
    }
    // A complex number is stored as its two parts, by the standard's guarantee.
    HWY_DYNAMIC_DISPATCH(derotate)
    (reinterpret_cast<const float*>(in.data()), reinterpret_cast<const float*>(factor.data()),
     dsp::Iq(dsp::back_turn(line.start)), turns_, reinterpret_cast<float*>(out.data()), in.size());
}

// By doubling: of a chain of products each would wait for the one before.
Derotator::Turns Derotator::turns_by(double step) {
    std::array<std::complex<double>, kMostLanes + 1> power{1, dsp::back_turn(step)};
    for (std::size_t done = 1; done < kMostLanes; done *= 2)
        for (std::size_t i = 1; i <= done; ++i) power[done + i] = dsp::product(power[done], power[i]);
    Turns turns;
    std::ranges::transform(power, turns.begin(), [](std::complex<double> x) { return dsp::Iq(x); });
    return turns;
}

}  // namespace tidemill::dvbs2::internal
#endif
