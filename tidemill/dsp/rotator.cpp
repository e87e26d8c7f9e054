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

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample: the plain loop at the end does it all

std::size_t rotate(const float*, std::size_t, const Oscillator&, float*) {
    return 0;
}
std::size_t rotate_split(const float*, std::size_t, const Oscillator&, float*, float*) {
    return 0;
}
std::size_t rotate_to_planes(const float*, std::size_t, const Oscillator&, std::int16_t*, std::int16_t*) {
    return 0;
}

#else

using Lanes = hn::ScalableTag<float>;
using Vec = hn::Vec<Lanes>;

// The recurrence loses about one rounding per step, so the oscillator is set anew from double precision
// every so many samples.
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

// The oscillator over the first samples, a sample in each pair of lanes.
Phasor first_lanes(const Oscillator& o) {
    const Lanes d;
    alignas(64) std::array<float, hn::MaxLanes(Lanes())> re{}, im{};
    for (std::size_t lane = 0; lane < hn::Lanes(d) / 2; ++lane) {
        const std::complex<double> z = oscillator_at(o, static_cast<double>(lane));
        re[2 * lane] = re[2 * lane + 1] = static_cast<float>(z.real());
        im[2 * lane + 1] = static_cast<float>(z.imag());
        im[2 * lane] = -im[2 * lane + 1];
    }
    return {hn::LoadU(d, re.data()), hn::LoadU(d, im.data())};
}

// The oscillator at sample n, in all lanes.
Phasor everywhere(const Oscillator& o, std::size_t n) {
    const Lanes d;
    const std::complex<double> z = oscillator_at(o, static_cast<double>(n));
    const auto im = hn::Set(d, static_cast<float>(z.imag()));
    return {hn::Set(d, static_cast<float>(z.real())), hn::OddEven(im, hn::Neg(im))};
}

// Calls store(n, first, second) with the turned samples n.. in two vectors; returns how many were done.
template <class Store>
std::size_t rotate_pairs(const float* in, std::size_t count, const Oscillator& o, Store store) {
    const Lanes d;
    const std::size_t half = hn::Lanes(d) / 2, both = 2 * half;
    const Oscillator unit{0.0, o.frequency, 1.0};
    const Phasor step = everywhere(unit, both);
    const Phasor lanes = first_lanes(unit);
    std::size_t n = 0;
    while (n + both <= count) {
        const auto anchor = [&](std::size_t at) HWY_ATTR {
            Phasor p = lanes;
            p.advance(everywhere(o, at));
            return p;
        };
        Phasor first = anchor(n), second = anchor(n + half);
        const std::size_t end = n + kAnchorSamples;
        for (; n < end && n + both <= count; n += both) {
            store(n, first.turn(hn::LoadU(d, in + 2 * n)), second.turn(hn::LoadU(d, in + 2 * (n + half))));
            first.advance(step);
            second.advance(step);
        }
    }
    return n;
}

std::size_t rotate(const float* in, std::size_t count, const Oscillator& o, float* out) {
    const Lanes d;
    return rotate_pairs(in, count, o, [&](std::size_t n, Vec a, Vec b) HWY_ATTR {
        hn::StoreU(a, d, out + 2 * n);
        hn::StoreU(b, d, out + 2 * n + hn::Lanes(d));
    });
}

std::size_t rotate_split(const float* in, std::size_t count, const Oscillator& o, float* even, float* odd) {
    const Lanes d;
    const hn::ScalableTag<double> pairs;  // a complex sample moves as one 64-bit lane
    return rotate_pairs(in, count, o, [&](std::size_t n, Vec a, Vec b) HWY_ATTR {
        const auto lo = hn::BitCast(pairs, a), hi = hn::BitCast(pairs, b);
        hn::StoreU(hn::BitCast(d, hn::ConcatEven(pairs, hi, lo)), d, even + n);
        hn::StoreU(hn::BitCast(d, hn::ConcatOdd(pairs, hi, lo)), d, odd + n);
    });
}

std::size_t rotate_to_planes(const float* in, std::size_t count, const Oscillator& o, std::int16_t* re,
                             std::int16_t* im) {
    const Lanes d;
    const hn::Rebind<std::int16_t, Lanes> narrow;
    const auto rounded = [&](Vec v) HWY_ATTR { return hn::DemoteTo(narrow, hn::NearestInt(v)); };
    return rotate_pairs(in, count, o, [&](std::size_t n, Vec a, Vec b) HWY_ATTR {
        hn::StoreU(rounded(hn::ConcatEven(d, b, a)), narrow, re + n);
        hn::StoreU(rounded(hn::ConcatOdd(d, b, a)), narrow, im + n);
    });
}

#endif

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(rotate);
HWY_EXPORT(rotate_split);
HWY_EXPORT(rotate_to_planes);

namespace {

const float* floats(std::span<const Iq> x) {
    return reinterpret_cast<const float*>(x.data());
}
float* floats(std::span<Iq> x) {
    return reinterpret_cast<float*>(x.data());
}

Iq rotated(Iq x, const Oscillator& o, std::size_t n) {
    const double cycles = o.phase_cycles + o.frequency * static_cast<double>(n);
    return Iq(std::complex<double>(x) *
              std::polar(o.gain, 2.0 * std::numbers::pi * (cycles - std::floor(cycles))));
}

}  // namespace

void rotate(std::span<const Iq> in, const Oscillator& oscillator, std::span<Iq> out) {
    assert(out.size() == in.size());
    std::size_t n = HWY_DYNAMIC_DISPATCH(rotate)(floats(in), in.size(), oscillator, floats(out));
    for (; n < in.size(); ++n) out[n] = rotated(in[n], oscillator, n);
}

void rotate_split(std::span<const Iq> in, const Oscillator& oscillator, std::span<Iq> even,
                  std::span<Iq> odd) {
    assert(in.size() % 2 == 0 && even.size() == in.size() / 2 && odd.size() == in.size() / 2);
    std::size_t n =
        HWY_DYNAMIC_DISPATCH(rotate_split)(floats(in), in.size(), oscillator, floats(even), floats(odd));
    for (; n < in.size(); ++n) (n % 2 ? odd : even)[n / 2] = rotated(in[n], oscillator, n);
}

void rotate_to_planes(std::span<const Iq> in, const Oscillator& oscillator, std::span<std::int16_t> re,
                      std::span<std::int16_t> im) {
    assert(re.size() == in.size() && im.size() == in.size());
    const auto rounded = [](float value) {
        return static_cast<std::int16_t>(std::lrint(std::clamp(value, -32768.0F, 32767.0F)));
    };
    std::size_t n =
        HWY_DYNAMIC_DISPATCH(rotate_to_planes)(floats(in), in.size(), oscillator, re.data(), im.data());
    for (; n < in.size(); ++n) {
        const Iq turned = rotated(in[n], oscillator, n);
        re[n] = rounded(turned.real());
        im[n] = rounded(turned.imag());
    }
}

}  // namespace tidemill::dsp
#endif
