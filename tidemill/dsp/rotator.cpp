#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/rotator.cpp"
#include "tidemill/dsp/rotator.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/complex_product.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample: the plain loop at the end does it all

std::size_t rotate(const Iq*, std::size_t, const Oscillator&, float*) {
    return 0;
}
template <class Sample>
std::size_t split(const Sample*, std::size_t, const Oscillator&, float*, float*) {
    return 0;
}
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

// The recurrence loses about one rounding per step, so the oscillator is set anew from one in double
// precision every so many samples.
constexpr std::size_t kAnchorSamples = 512;

std::complex<double> oscillator_at(const Oscillator& o, double n) {
    const double cycles = o.phase_cycles + o.frequency * n;
    return std::polar(o.gain, 2.0 * std::numbers::pi * (cycles - std::floor(cycles)));
}

// The oscillator over one vector of samples: (re, re) and (-im, im) in each pair of lanes, which turns a
// complex product into two real ones without a final shuffle.
struct Phasor {
    Vec re, im;

    Vec turn(Vec x) const { return hn::MulAdd(hn::Reverse2(Lanes(), x), im, hn::Mul(x, re)); }

    void advance(const Phasor& step) {
        const Vec next = hn::NegMulAdd(im, step.im, hn::Mul(re, step.re));
        im = hn::MulAdd(re, step.im, hn::Mul(im, step.re));
        re = next;
    }
};

// What the oscillator turns by until each sample of a vector, a sample in each pair of lanes.
Phasor first_lanes(std::complex<double> turn) {
    const Lanes d;
    alignas(64) std::array<float, hn::MaxLanes(Lanes())> re{}, im{};
    std::complex<double> z = 1.0;
    for (std::size_t lane = 0; lane < hn::Lanes(d) / 2; ++lane, z = product(z, turn)) {
        re[2 * lane] = re[2 * lane + 1] = static_cast<float>(z.real());
        im[2 * lane + 1] = static_cast<float>(z.imag());
        im[2 * lane] = -im[2 * lane + 1];
    }
    return {hn::LoadU(d, re.data()), hn::LoadU(d, im.data())};
}

// One value of the oscillator in all lanes.
Phasor everywhere(std::complex<double> z) {
    const Lanes d;
    const auto im = hn::Set(d, static_cast<float>(z.imag()));
    return {hn::Set(d, static_cast<float>(z.real())), hn::OddEven(im, hn::Neg(im))};
}

// A vector of samples from sample n on.
Vec load(const Iq* in, std::size_t n) {
    return hn::LoadU(Lanes(), reinterpret_cast<const float*>(in + n));
}
Vec load(const Ci8* in, std::size_t n) {
    const hn::RebindToSigned<Lanes> wide;
    const hn::Rebind<std::int8_t, Lanes> narrow;
    return hn::ConvertTo(Lanes(), hn::PromoteTo(wide, hn::LoadU(narrow, &in[n].re)));
}

// Calls store(n, first, second) with the turned samples n.. in two vectors; returns how many were done.
template <class Sample, class Store>
std::size_t rotate_pairs(const Sample* in, std::size_t count, const Oscillator& o, Store store) {
    const Lanes d;
    const std::size_t half = hn::Lanes(d) / 2, both = 2 * half;
    const Oscillator unit{0.0, o.frequency, 1.0};
    const auto turn_by = [&](std::size_t samples)
                             HWY_ATTR { return oscillator_at(unit, static_cast<double>(samples)); };
    const Phasor step = everywhere(turn_by(both)), half_step = everywhere(turn_by(half));
    const Phasor lanes = first_lanes(turn_by(1));
    const std::complex<double> to_next_anchor = turn_by(kAnchorSamples);
    std::complex<double> anchor = oscillator_at(o, 0);
    std::size_t n = 0;
    while (n + both <= count) {
        Phasor first = lanes;
        first.advance(everywhere(anchor));
        anchor = product(anchor, to_next_anchor);
        Phasor second = first;
        second.advance(half_step);
        const std::size_t end = n + kAnchorSamples;
        for (; n < end && n + both <= count; n += both) {
            store(n, first.turn(load(in, n)), second.turn(load(in, n + half)));
            first.advance(step);
            second.advance(step);
        }
    }
    return n;
}

std::size_t rotate(const Iq* in, std::size_t count, const Oscillator& o, float* out) {
    const Lanes d;
    return rotate_pairs(in, count, o, [&](std::size_t n, Vec a, Vec b) HWY_ATTR {
        hn::StoreU(a, d, out + 2 * n);
        hn::StoreU(b, d, out + 2 * n + hn::Lanes(d));
    });
}

using Whole = hn::ScalableTag<double>;  // a complex sample moves as one 64-bit lane
using WholeVec = hn::Vec<Whole>;

// Even- and odd-numbered samples of two vectors.
WholeVec even_of(Vec a, Vec b) {
    return hn::ConcatEven(Whole(), hn::BitCast(Whole(), b), hn::BitCast(Whole(), a));
}
WholeVec odd_of(Vec a, Vec b) {
    return hn::ConcatOdd(Whole(), hn::BitCast(Whole(), b), hn::BitCast(Whole(), a));
}

template <class Sample>
std::size_t split(const Sample* in, std::size_t count, const Oscillator& o, float* even, float* odd) {
    const Lanes d;
    return rotate_pairs(in, count, o, [&](std::size_t n, Vec a, Vec b) HWY_ATTR {
        hn::StoreU(hn::BitCast(d, even_of(a, b)), d, even + n);
        hn::StoreU(hn::BitCast(d, odd_of(a, b)), d, odd + n);
    });
}

template <class Sample>
std::size_t to_planes(const Sample* in, std::size_t count, const Oscillator& o, std::int16_t* re,
                      std::int16_t* im) {
    const Lanes d;
    const hn::Rebind<std::int16_t, Lanes> narrow;
    const auto rounded = [&](Vec v) HWY_ATTR { return hn::DemoteTo(narrow, hn::NearestInt(v)); };
    return rotate_pairs(in, count, o, [&](std::size_t n, Vec a, Vec b) HWY_ATTR {
        hn::StoreU(rounded(hn::ConcatEven(d, b, a)), narrow, re + n);
        hn::StoreU(rounded(hn::ConcatOdd(d, b, a)), narrow, im + n);
    });
}

// What is added to it loses its fraction, rounded, and has its lower 16 bits where a float has them.
constexpr float kRounder = 1.5F * (1 << 23);

template <class Sample>
std::size_t to_pairs(const Sample* in, std::size_t count, const Oscillator& o, std::int16_t* pairs) {
    const hn::RebindToSigned<Lanes> wide;
    const hn::Repartition<std::int16_t, Lanes> narrow;
    return rotate_pairs(in, count, o, [&](std::size_t n, Vec a, Vec b) HWY_ATTR {
        const auto rounder = hn::Set(Lanes(), kRounder);
        const Vec x = hn::Add(a, rounder), y = hn::Add(b, rounder);
        const auto later = hn::ShiftLeft<16>(hn::BitCast(wide, odd_of(x, y)));
        hn::StoreU(hn::OddEven(hn::BitCast(narrow, later), hn::BitCast(narrow, even_of(x, y))), narrow,
                   pairs + 2 * n);
    });
}

#endif

std::size_t split_floats(const Iq* in, std::size_t count, const Oscillator& o, float* even, float* odd) {
    return split(in, count, o, even, odd);
}
std::size_t split_bytes(const Ci8* in, std::size_t count, const Oscillator& o, float* even, float* odd) {
    return split(in, count, o, even, odd);
}
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

HWY_EXPORT(rotate);
HWY_EXPORT(split_floats);
HWY_EXPORT(split_bytes);
HWY_EXPORT(floats_to_planes);
HWY_EXPORT(bytes_to_planes);
HWY_EXPORT(floats_to_pairs);
HWY_EXPORT(bytes_to_pairs);

namespace {

Iq number(Iq x) {
    return x;
}
Iq number(Ci8 x) {
    return {static_cast<float>(x.re), static_cast<float>(x.im)};
}

template <class Sample>
Iq rotated(Sample x, const Oscillator& o, std::size_t n) {
    const double cycles = o.phase_cycles + o.frequency * static_cast<double>(n);
    return Iq(std::complex<double>(number(x)) *
              std::polar(o.gain, 2.0 * std::numbers::pi * (cycles - std::floor(cycles))));
}

std::int16_t rounded(float value) {
    return static_cast<std::int16_t>(std::lrint(std::clamp(value, -32768.0F, 32767.0F)));
}

// The kernels leave a few samples at the end.
template <class Sample>
void split_all(auto kernel, std::span<const Sample> in, const Oscillator& o, std::span<Iq> even,
               std::span<Iq> odd) {
    assert(in.size() % 2 == 0 && even.size() == in.size() / 2 && odd.size() == in.size() / 2);
    std::size_t n = kernel(in.data(), in.size(), o, reinterpret_cast<float*>(even.data()),
                           reinterpret_cast<float*>(odd.data()));
    for (; n < in.size(); ++n) (n % 2 ? odd : even)[n / 2] = rotated(in[n], o, n);
}

template <class Sample>
void all_to_planes(auto kernel, std::span<const Sample> in, const Oscillator& o, std::span<std::int16_t> re,
                   std::span<std::int16_t> im) {
    assert(re.size() == in.size() && im.size() == in.size());
    std::size_t n = kernel(in.data(), in.size(), o, re.data(), im.data());
    for (; n < in.size(); ++n) {
        const Iq turned = rotated(in[n], o, n);
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
        const Iq turned = rotated(in[n], o, n);
        std::int16_t* pair = &pairs[n / 2 * 4];
        pair[n % 2] = rounded(turned.real());
        pair[n % 2 + 2] = rounded(turned.imag());
    }
}

}  // namespace

void rotate(std::span<const Iq> in, const Oscillator& oscillator, std::span<Iq> out) {
    assert(out.size() == in.size());
    std::size_t n =
        HWY_DYNAMIC_DISPATCH(rotate)(in.data(), in.size(), oscillator, reinterpret_cast<float*>(out.data()));
    for (; n < in.size(); ++n) out[n] = rotated(in[n], oscillator, n);
}

void rotate_split(std::span<const Iq> in, const Oscillator& oscillator, std::span<Iq> even,
                  std::span<Iq> odd) {
    split_all([](auto... a) { return HWY_DYNAMIC_DISPATCH(split_floats)(a...); }, in, oscillator, even, odd);
}
void rotate_split(std::span<const Ci8> in, const Oscillator& oscillator, std::span<Iq> even,
                  std::span<Iq> odd) {
    split_all([](auto... a) { return HWY_DYNAMIC_DISPATCH(split_bytes)(a...); }, in, oscillator, even, odd);
}

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
