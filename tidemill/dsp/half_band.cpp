#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/half_band.cpp"
#include "tidemill/dsp/half_band.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample: the plain loops at the end do it all

std::size_t split_pairs(const float*, std::size_t, float*, float*) {
    return 0;
}
std::size_t half_band(const float*, const float*, const float*, std::size_t, float*, std::size_t) {
    return 0;
}

#else

// `floats` of each output; returns how many are done.
std::size_t split_pairs(const float* x, std::size_t floats, float* even, float* odd) {
    const hn::ScalableTag<double> pair;  // of real and imaginary part
    const std::size_t width = hn::Lanes(pair);
    const auto* from = reinterpret_cast<const double*>(x);
    std::size_t n = 0;
    for (; n + width <= floats / 2; n += width) {
        hn::Vec<decltype(pair)> a, b;
        hn::LoadInterleaved2(pair, from + 2 * n, a, b);
        hn::StoreU(a, pair, reinterpret_cast<double*>(even) + n);
        hn::StoreU(b, pair, reinterpret_cast<double*>(odd) + n);
    }
    return 2 * n;
}

// Four vectors of outputs share the taps; returns how many floats are done.
std::size_t half_band(const float* even, const float* odd, const float* taps, std::size_t count, float* out,
                      std::size_t floats) {
    const hn::ScalableTag<float> d;
    const std::size_t width = hn::Lanes(d);
    const auto middle = hn::Set(d, 0.5F);
    std::size_t n = 0;
    for (; n + 4 * width <= floats; n += 4 * width) {
        auto a = hn::Mul(middle, hn::LoadU(d, odd + n)), b = hn::Mul(middle, hn::LoadU(d, odd + n + width)),
             c = hn::Mul(middle, hn::LoadU(d, odd + n + 2 * width)),
             e = hn::Mul(middle, hn::LoadU(d, odd + n + 3 * width));
        const float* from = even + n;
        for (std::size_t k = 0; k < count; ++k, from += 2) {
            const auto tap = hn::Set(d, taps[k]);
            a = hn::MulAdd(tap, hn::LoadU(d, from), a);
            b = hn::MulAdd(tap, hn::LoadU(d, from + width), b);
            c = hn::MulAdd(tap, hn::LoadU(d, from + 2 * width), c);
            e = hn::MulAdd(tap, hn::LoadU(d, from + 3 * width), e);
        }
        hn::StoreU(a, d, out + n);
        hn::StoreU(b, d, out + n + width);
        hn::StoreU(c, d, out + n + 2 * width);
        hn::StoreU(e, d, out + n + 3 * width);
    }
    return n;
}

#endif

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "tidemill/dsp/low_pass.hpp"

namespace tidemill::dsp {

HWY_EXPORT(split_pairs);
HWY_EXPORT(half_band);

namespace {

float* floats_of(Iq* samples) {
    return reinterpret_cast<float*>(samples);
}
const float* floats_of(const Iq* samples) {
    return reinterpret_cast<const float*>(samples);
}

// Taps at the odd distances 1, 3, ... to either side of the middle, which alone takes one half.
std::vector<float> odd_taps(double pass, double stop_db) {
    const LowPass response(pass, 0.5 - pass, stop_db);
    const auto half = static_cast<std::ptrdiff_t>((response.reach() + 1) / 2);
    std::vector<float> taps;
    for (std::ptrdiff_t k = -half; k < half; ++k)
        taps.push_back(static_cast<float>(response(static_cast<double>(2 * k + 1))));
    return taps;
}

void append_split(std::span<const Iq> in, AlignedVector<Iq>& even, AlignedVector<Iq>& odd) {
    const std::size_t before = even.size(), count = in.size() / 2;
    even.resize(before + count);
    odd.resize(before + count);
    const std::size_t done =
        HWY_DYNAMIC_DISPATCH(split_pairs)(floats_of(in.data()), 2 * count, floats_of(even.data() + before),
                                          floats_of(odd.data() + before)) /
        2;
    for (std::size_t n = done; n < count; ++n) {
        even[before + n] = in[2 * n];
        odd[before + n] = in[2 * n + 1];
    }
}

void drop_front(AlignedVector<Iq>& samples, std::size_t count) {
    copy_samples(std::span(samples).subspan(count), samples);
    samples.resize(samples.size() - count);
}

}  // namespace

HalfBand::HalfBand(double pass, double stop_db)
    : taps_(odd_taps(pass, stop_db)), even_(taps_.size() - 1), odd_(taps_.size() - 1) {}

void HalfBand::process(std::span<const Iq> in, AlignedVector<Iq>& out) {
    if (!left_.empty() && !in.empty()) {
        const std::array<Iq, 2> pair{left_.front(), in.front()};
        left_.clear();
        append_split(pair, even_, odd_);
        in = in.subspan(1);
    }
    if (in.size() % 2 != 0) left_.assign(1, in.back());
    append_split(in.first(in.size() / 2 * 2), even_, odd_);

    const std::size_t count = even_.size() - (taps_.size() - 1), before = out.size();
    const Iq* middle = odd_.data() + taps_.size() / 2 - 1;
    out.resize(before + count);
    Iq* to = out.data() + before;
    std::size_t n = HWY_DYNAMIC_DISPATCH(half_band)(floats_of(even_.data()), floats_of(middle), taps_.data(),
                                                    taps_.size(), floats_of(to), 2 * count) /
                    2;
    for (; n < count; ++n) {
        Iq sum = 0.5F * middle[n];
        for (std::size_t k = 0; k < taps_.size(); ++k) sum += taps_[k] * even_[n + k];
        to[n] = sum;
    }
    drop_front(even_, count);
    drop_front(odd_, count);
}

}  // namespace tidemill::dsp
#endif
