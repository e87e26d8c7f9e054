#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/short_rotator.cpp"
#include "tidemill/dsp/short_rotator.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <complex>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/complex_product.hpp"
#include "tidemill/dsp/complex_vec_inl.hpp"
#include "tidemill/dsp/internal/rotated.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a pair: the plain loop at the end does it all

template <class Sample>
std::size_t to_planes(const Sample*, std::size_t, const Oscillator&, std::int16_t*, std::int16_t*) {
    return 0;
}
template <class Sample>
std::size_t to_pairs(const Sample*, std::size_t, const Oscillator&, std::int16_t*) {
    return 0;
}

#else

using Lanes = hn::ScalableTag<float>;
using Vec = hn::Vec<Lanes>;
using Wide = hn::RebindToSigned<Lanes>;

using Turned = ComplexVec<Lanes>;

HWY_INLINE Turned in_all_lanes(std::complex<double> z) {
    return everywhere(Lanes(), Iq(z));
}

// Phase of the oscillator at each sample of a vector.
Turned first_lanes(std::complex<double> turn) {
    alignas(64) std::array<float, hn::MaxLanes(Lanes())> re{}, im{};
    std::complex<double> z = 1.0;
    for (std::size_t lane = 0; lane < hn::Lanes(Lanes()); ++lane, z = product(z, turn)) {
        re[lane] = static_cast<float>(z.real());
        im[lane] = static_cast<float>(z.imag());
    }
    return {hn::LoadU(Lanes(), re.data()), hn::LoadU(Lanes(), im.data())};
}

HWY_INLINE Turned load(const Iq* in) {
    const auto* from = reinterpret_cast<const float*>(in);
    const Vec a = hn::LoadU(Lanes(), from), b = hn::LoadU(Lanes(), from + hn::Lanes(Lanes()));
    return {hn::ConcatEven(Lanes(), b, a), hn::ConcatOdd(Lanes(), b, a)};
}

// A sample's bytes are a number of 16 bits, of which the imaginary part is the upper half.
HWY_INLINE Turned load(const Ci8* in) {
    const hn::Rebind<std::int16_t, Wide> both;
    const hn::Repartition<std::int8_t, decltype(both)> bytes;
    const auto samples = hn::PromoteTo(Wide(), hn::BitCast(both, hn::LoadU(bytes, &in->re)));
    return {hn::ConvertTo(Lanes(), hn::ShiftRight<24>(hn::ShiftLeft<24>(samples))),
            hn::ConvertTo(Lanes(), hn::ShiftRight<8>(samples))};
}

// Calls store(n, turned) for vectors of samples n.., two side by side; returns how many samples were done.
template <class Sample, class Store>
HWY_INLINE std::size_t rotate_planes(const Sample* in, std::size_t count, const Oscillator& o, Store store) {
    const std::size_t lanes = hn::Lanes(Lanes()), both = 2 * lanes;
    internal::OscillatorAnchors anchors(o);
    const Turned step = in_all_lanes(anchors.turn_by(both)), half_step = in_all_lanes(anchors.turn_by(lanes));
    const Turned from_first = first_lanes(anchors.turn_by(1));
    std::size_t n = 0;
    while (n + both <= count) {
        Turned first = from_first.times(in_all_lanes(anchors.next())), second = first.times(half_step);
        const std::size_t end = n + internal::OscillatorAnchors::kSamples;
        for (; n < end && n + both <= count; n += both) {
            store(n, load(in + n).times(first));
            store(n + lanes, load(in + n + lanes).times(second));
            first = first.times(step);
            second = second.times(step);
        }
    }
    return n;
}

template <class Sample>
std::size_t to_planes(const Sample* in, std::size_t count, const Oscillator& o, std::int16_t* re,
                      std::int16_t* im) {
    const hn::Rebind<std::int16_t, Lanes> narrow;
    return rotate_planes(in, count, o, [&](std::size_t n, const Turned& x) HWY_ATTR {
        hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(x.re)), narrow, re + n);
        hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(x.im)), narrow, im + n);
    });
}

// A number added to it loses its fraction, rounded, and has its lower 16 bits where a float has them.
constexpr float kRounder = 1.5F * (1 << 23);

template <class Sample>
std::size_t to_pairs(const Sample* in, std::size_t count, const Oscillator& o, std::int16_t* pairs) {
    const hn::Repartition<std::int16_t, Lanes> narrow;
    const hn::Repartition<std::uint8_t, Lanes> bytes;
    // From one sample behind the other to both real parts before both imaginary ones.
    alignas(16) static constexpr std::uint8_t kPaired[16] = {0, 1, 4,  5,  2,  3,  6,  7,
                                                             8, 9, 12, 13, 10, 11, 14, 15};
    const auto paired = hn::LoadDup128(bytes, kPaired);
    return rotate_planes(in, count, o, [&](std::size_t n, const Turned& x) HWY_ATTR {
        const auto rounder = hn::Set(Lanes(), kRounder);
        const auto re = hn::BitCast(narrow, hn::Add(x.re, rounder));
        const auto im = hn::BitCast(narrow, hn::ShiftLeft<16>(hn::BitCast(Wide(), hn::Add(x.im, rounder))));
        const auto samples = hn::BitCast(bytes, hn::OddEven(im, re));
        hn::StoreU(hn::BitCast(narrow, hn::TableLookupBytes(samples, paired)), narrow, pairs + 2 * n);
    });
}

#endif

}  // namespace

std::size_t floats_to_planes(const Iq* in, std::size_t count, const Oscillator& o, std::int16_t* re,
                             std::int16_t* im) {
    return to_planes(in, count, o, re, im);
}
std::size_t bytes_to_planes(const Ci8* in, std::size_t count, const Oscillator& o, std::int16_t* re,
                            std::int16_t* im) {
    return to_planes(in, count, o, re, im);
}
std::size_t floats_to_pairs(const Iq* in, std::size_t count, const Oscillator& o, std::int16_t* pairs) {
    return to_pairs(in, count, o, pairs);
}
std::size_t bytes_to_pairs(const Ci8* in, std::size_t count, const Oscillator& o, std::int16_t* pairs) {
    return to_pairs(in, count, o, pairs);
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(floats_to_planes);
HWY_EXPORT(bytes_to_planes);
HWY_EXPORT(floats_to_pairs);
HWY_EXPORT(bytes_to_pairs);

namespace {

std::int16_t rounded(float value) {
    return static_cast<std::int16_t>(std::lrint(std::clamp(value, -32768.0F, 32767.0F)));
}

// The kernels leave a few samples at the end.
template <class Sample>
void all_to_planes(auto kernel, std::span<const Sample> in, const Oscillator& o, std::span<std::int16_t> re,
                   std::span<std::int16_t> im) {
    assert(re.size() == in.size() && im.size() == in.size());
    std::size_t n = kernel(in.data(), in.size(), o, re.data(), im.data());
    for (; n < in.size(); ++n) {
        const Iq turned = internal::rotated(in[n], o, n);
        re[n] = rounded(turned.real());
        im[n] = rounded(turned.imag());
    }
}

template <class Sample>
void all_to_pairs(auto kernel, std::span<const Sample> in, const Oscillator& o,
                  std::span<std::int16_t> pairs) {
    assert(in.size() % 2 == 0 && pairs.size() == 2 * in.size());
    std::size_t n = kernel(in.data(), in.size(), o, pairs.data());
    for (; n < in.size(); ++n) {
        const Iq turned = internal::rotated(in[n], o, n);
        std::int16_t* pair = &pairs[n / 2 * 4];
        pair[n % 2] = rounded(turned.real());
        pair[n % 2 + 2] = rounded(turned.imag());
    }
}

}  // namespace

void rotate_to_planes(std::span<const Iq> in, const Oscillator& oscillator, std::span<std::int16_t> re,
                      std::span<std::int16_t> im) {
    all_to_planes([](auto... a) { return HWY_DYNAMIC_DISPATCH(floats_to_planes)(a...); }, in, oscillator, re,
                  im);
}
void rotate_to_planes(std::span<const Ci8> in, const Oscillator& oscillator, std::span<std::int16_t> re,
                      std::span<std::int16_t> im) {
    all_to_planes([](auto... a) { return HWY_DYNAMIC_DISPATCH(bytes_to_planes)(a...); }, in, oscillator, re,
                  im);
}

void rotate_to_pairs(std::span<const Iq> in, const Oscillator& oscillator, std::span<std::int16_t> pairs) {
    all_to_pairs([](auto... a) { return HWY_DYNAMIC_DISPATCH(floats_to_pairs)(a...); }, in, oscillator,
                 pairs);
}
void rotate_to_pairs(std::span<const Ci8> in, const Oscillator& oscillator, std::span<std::int16_t> pairs) {
    all_to_pairs([](auto... a) { return HWY_DYNAMIC_DISPATCH(bytes_to_pairs)(a...); }, in, oscillator, pairs);
}

}  // namespace tidemill::dsp
#endif
