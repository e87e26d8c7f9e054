#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/rotator.cpp"
#include "tidemill/dsp/rotator.hpp"

#include <array>
#include <cassert>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/complex_product.hpp"
#include "tidemill/dsp/internal/rotated.hpp"

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

#else

using Lanes = hn::ScalableTag<float>;
using Vec = hn::Vec<Lanes>;

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

// Phase of the oscillator at each sample of a vector, a sample in each pair of lanes.
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
    internal::OscillatorAnchors anchors(o);
    const Phasor step = everywhere(anchors.turn_by(both)), half_step = everywhere(anchors.turn_by(half));
    const Phasor lanes = first_lanes(anchors.turn_by(1));
    std::size_t n = 0;
    while (n + both <= count) {
        Phasor first = lanes;
        first.advance(everywhere(anchors.next()));
        Phasor second = first;
        second.advance(half_step);
        const std::size_t end = n + internal::OscillatorAnchors::kSamples;
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

#endif

std::size_t split_floats(const Iq* in, std::size_t count, const Oscillator& o, float* even, float* odd) {
    return split(in, count, o, even, odd);
}
std::size_t split_bytes(const Ci8* in, std::size_t count, const Oscillator& o, float* even, float* odd) {
    return split(in, count, o, even, odd);
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(rotate);
HWY_EXPORT(split_floats);
HWY_EXPORT(split_bytes);

namespace {

// The kernels leave a few samples at the end.
template <class Sample>
void split_all(auto kernel, std::span<const Sample> in, const Oscillator& o, std::span<Iq> even,
               std::span<Iq> odd) {
    assert(in.size() % 2 == 0 && even.size() == in.size() / 2 && odd.size() == in.size() / 2);
    std::size_t n = kernel(in.data(), in.size(), o, reinterpret_cast<float*>(even.data()),
                           reinterpret_cast<float*>(odd.data()));
    for (; n < in.size(); ++n) (n % 2 ? odd : even)[n / 2] = internal::rotated(in[n], o, n);
}

}  // namespace

void rotate(std::span<const Iq> in, const Oscillator& oscillator, std::span<Iq> out) {
    assert(out.size() == in.size());
    std::size_t n =
        HWY_DYNAMIC_DISPATCH(rotate)(in.data(), in.size(), oscillator, reinterpret_cast<float*>(out.data()));
    for (; n < in.size(); ++n) out[n] = internal::rotated(in[n], oscillator, n);
}

void rotate_split(std::span<const Iq> in, const Oscillator& oscillator, std::span<Iq> even,
                  std::span<Iq> odd) {
    split_all([](auto... a) { return HWY_DYNAMIC_DISPATCH(split_floats)(a...); }, in, oscillator, even, odd);
}
void rotate_split(std::span<const Ci8> in, const Oscillator& oscillator, std::span<Iq> even,
                  std::span<Iq> odd) {
    split_all([](auto... a) { return HWY_DYNAMIC_DISPATCH(split_bytes)(a...); }, in, oscillator, even, odd);
}

}  // namespace tidemill::dsp
#endif
