#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/interpolator.cpp"
#include "tidemill/dsp/interpolator.hpp"

#include <cassert>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample: the plain loop at the end does it all

std::size_t two_phases(const float*, std::size_t, const float*, const float*, std::size_t, float*) {
    return 0;
}
std::size_t one_phase(const float*, std::size_t, const float*, std::size_t, float*, std::size_t) {
    return 0;
}

#else

// Two phases of a filter with `taps` taps each, samples alternating; returns how many inputs are done. Two
// taps of each phase, a vector apart, share what is loaded. Wider vectors would lie across cache lines nearly
// wherever they start.
std::size_t two_phases(const float* x, std::size_t floats, const float* a, const float* b, std::size_t taps,
                       float* out) {
    std::size_t at = 0;
    const hn::CappedTag<float, 8> d;
    using Vec = hn::Vec<decltype(d)>;
    const hn::Repartition<double, decltype(d)> pair;  // of real and imaginary part
    const std::size_t width = hn::Lanes(d), apart = width / 2;
    for (; at + 4 * width <= floats; at += 4 * width) {
        Vec a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
        // With taps k and k + apart; there need not be a second one.
        const auto add = [&](std::size_t k, bool both) HWY_ATTR {
            const float* from = x + at + 2 * k;
            const Vec none = hn::Zero(d);
            const Vec ha = hn::Set(d, a[k]), next_ha = both ? hn::Set(d, a[k + apart]) : none;
            const Vec hb = hn::Set(d, b[k]), next_hb = both ? hn::Set(d, b[k + apart]) : none;
            const Vec x0 = hn::LoadU(d, from), x1 = hn::LoadU(d, from + width),
                      x2 = hn::LoadU(d, from + 2 * width), x3 = hn::LoadU(d, from + 3 * width),
                      x4 = both ? hn::LoadU(d, from + 4 * width) : none;
            a0 = hn::MulAdd(next_ha, x1, hn::MulAdd(ha, x0, a0));
            a1 = hn::MulAdd(next_ha, x2, hn::MulAdd(ha, x1, a1));
            a2 = hn::MulAdd(next_ha, x3, hn::MulAdd(ha, x2, a2));
            a3 = hn::MulAdd(next_ha, x4, hn::MulAdd(ha, x3, a3));
            b0 = hn::MulAdd(next_hb, x1, hn::MulAdd(hb, x0, b0));
            b1 = hn::MulAdd(next_hb, x2, hn::MulAdd(hb, x1, b1));
            b2 = hn::MulAdd(next_hb, x3, hn::MulAdd(hb, x2, b2));
            b3 = hn::MulAdd(next_hb, x4, hn::MulAdd(hb, x3, b3));
        };
        std::size_t k = 0;
        for (; k + 2 * apart <= taps; k += 2 * apart) {
            for (std::size_t i = k; i < k + apart; ++i) add(i, true);
        }
        for (; k < taps; ++k) add(k, false);
        auto* to = reinterpret_cast<double*>(out + 2 * at);
        hn::StoreInterleaved2(hn::BitCast(pair, a0), hn::BitCast(pair, b0), pair, to);
        hn::StoreInterleaved2(hn::BitCast(pair, a1), hn::BitCast(pair, b1), pair, to + width);
        hn::StoreInterleaved2(hn::BitCast(pair, a2), hn::BitCast(pair, b2), pair, to + 2 * width);
        hn::StoreInterleaved2(hn::BitCast(pair, a3), hn::BitCast(pair, b3), pair, to + 3 * width);
    }
    return at / 2;
}

// One phase of any number of them: every `phases`-th complex number of `out`.
std::size_t one_phase(const float* x, std::size_t floats, const float* a, std::size_t taps, float* out,
                      std::size_t phases) {
    std::size_t at = 0;
    const hn::ScalableTag<float> d;
    const std::size_t width = hn::Lanes(d);
    HWY_ALIGN float made[4 * HWY_MAX_BYTES / sizeof(float)];
    for (; at + 4 * width <= floats; at += 4 * width) {
        const float* from = x + at;
        auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0;
        for (std::size_t k = 0; k < taps; ++k, from += 2) {
            const auto ha = hn::Set(d, a[k]);
            a0 = hn::MulAdd(ha, hn::LoadU(d, from), a0);
            a1 = hn::MulAdd(ha, hn::LoadU(d, from + width), a1);
            a2 = hn::MulAdd(ha, hn::LoadU(d, from + 2 * width), a2);
            a3 = hn::MulAdd(ha, hn::LoadU(d, from + 3 * width), a3);
        }
        hn::Store(a0, d, made);
        hn::Store(a1, d, made + width);
        hn::Store(a2, d, made + 2 * width);
        hn::Store(a3, d, made + 3 * width);
        for (std::size_t i = 0; i < 4 * width; i += 2) {
            float* to = out + (at + i) * phases;
            to[0] = made[i];
            to[1] = made[i + 1];
        }
    }
    return at / 2;
}

#endif

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(two_phases);
HWY_EXPORT(one_phase);

Interpolator::Interpolator(std::size_t reach, std::size_t phases,
                           const std::function<double(double)>& response)
    : reach_(reach), phases_(phases) {
    assert(reach > 0 && phases > 0);
    for (std::size_t p = 0; p < phases; ++p) {
        for (std::size_t k = 0; k < 2 * reach; ++k) {
            const double back = static_cast<double>(reach) - 1.0 - static_cast<double>(k);
            taps_.push_back(
                static_cast<float>(response(back + static_cast<double>(p) / static_cast<double>(phases))));
        }
    }
    if (phases == SignInterpolator::kPhases && 2 * reach <= SignInterpolator::kMostTaps)
        by_signs_.emplace(taps_);
}

void Interpolator::process(std::span<const Iq> x, std::span<Iq> out) const {
    assert(x.size() >= history() && out.size() == (x.size() - history()) * phases_);
    const std::size_t done = by_signs_ ? by_signs_->process(x, out) : 0;
    filter(x.subspan(done), out.subspan(done * phases_));
}

void Interpolator::filter(std::span<const Iq> x, std::span<Iq> out) const {
    const std::size_t taps = 2 * reach_;
    const std::size_t count = x.size() - history();
    const auto* from = reinterpret_cast<const float*>(x.data());
    auto* to = reinterpret_cast<float*>(out.data());
    std::size_t n = 0;
    if (phases_ == 2) {
        n = HWY_DYNAMIC_DISPATCH(two_phases)(from, 2 * count, taps_.data(), taps_.data() + taps, taps, to);
    } else {
        for (std::size_t p = 0; p < phases_; ++p) {
            n = HWY_DYNAMIC_DISPATCH(one_phase)(from, 2 * count, taps_.data() + p * taps, taps, to + 2 * p,
                                                phases_);
        }
    }
    for (; n < count; ++n) {
        for (std::size_t p = 0; p < phases_; ++p) {
            Iq sum{};
            for (std::size_t k = 0; k < taps; ++k) sum += taps_[p * taps + k] * x[n + k];
            out[n * phases_ + p] = sum;
        }
    }
}

}  // namespace tidemill::dsp
#endif
