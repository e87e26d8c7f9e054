#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/fft.cpp"
#include "tidemill/dsp/fft.hpp"

#include <bit>
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

/// One pass of radix 4: `length` is that of the transforms that are left, `stride` how many lie side by side.
struct FftPass {
    const float* x;
    float* y;
    const float* turns;  // of p, 2 p and 3 p parts of the length, for each p
    std::size_t length, stride;
};

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample: plain_pass() does it all

bool radix_4(const float*, float*, const float*, std::size_t, std::size_t, bool) {
    return false;
}

#else

template <class D>
using FloatsOf = hn::Vec<D>;

// A turn in each pair of lanes, as (re, re) and (-im, im).
template <class D>
struct Turn {
    FloatsOf<D> re, im;

    FloatsOf<D> operator()(D d, FloatsOf<D> x) const {
        return hn::MulAdd(hn::Reverse2(d, x), im, hn::Mul(x, re));
    }
};

// -0 in the even lanes, or in the odd ones.
template <class D>
FloatsOf<D> minus_in(D d, bool odd) {
    const hn::Repartition<std::uint64_t, D> bits;
    return hn::BitCast(d, hn::Set(bits, odd ? 0x8000000000000000ULL : 0x80000000ULL));
}

template <class D>
Turn<D> turn_everywhere(D d, const float* turn, FloatsOf<D> sign) {
    return {hn::Set(d, turn[0]), hn::Xor(hn::Set(d, turn[1]), sign)};
}

template <class D>
Turn<D> turns_side_by_side(D d, const float* turns, FloatsOf<D> sign) {
    const auto w = hn::LoadU(d, turns);
    return {hn::DupEven(w), hn::Xor(hn::DupOdd(w), sign)};
}

template <class D>
struct FourOf {
    FloatsOf<D> a, b, c, e;
};

// `quarter` is the sign of a quarter turn.
template <class D>
FourOf<D> butterfly(D d, const FourOf<D>& x, const Turn<D>& w1, const Turn<D>& w2, const Turn<D>& w3,
                    FloatsOf<D> quarter) {
    const auto sum_ac = hn::Add(x.a, x.c), difference_ac = hn::Sub(x.a, x.c);
    const auto sum_be = hn::Add(x.b, x.e);
    const auto turned = hn::Xor(hn::Reverse2(d, hn::Sub(x.b, x.e)), quarter);
    return {hn::Add(sum_ac, sum_be), w1(d, hn::Add(difference_ac, turned)), w2(d, hn::Sub(sum_ac, sum_be)),
            w3(d, hn::Sub(difference_ac, turned))};
}

// Transforms side by side share the turns.
template <class D>
void pass_of_many(D d, const FftPass& pass, bool inverse) {
    const auto sign = minus_in(d, inverse), quarter = minus_in(d, !inverse);
    const std::size_t quarter_length = pass.length / 4, floats = 2 * pass.stride;
    for (std::size_t p = 0; p < quarter_length; ++p) {
        const auto w1 = turn_everywhere(d, pass.turns + 2 * p, sign),
                   w2 = turn_everywhere(d, pass.turns + 2 * (quarter_length + p), sign),
                   w3 = turn_everywhere(d, pass.turns + 2 * (2 * quarter_length + p), sign);
        const float* from = pass.x + floats * p;
        float* to = pass.y + 4 * floats * p;
        const std::size_t step = floats * quarter_length;
        for (std::size_t q = 0; q < floats; q += hn::Lanes(d)) {
            const FourOf<D> out =
                butterfly(d,
                          FourOf<D>{hn::LoadU(d, from + q), hn::LoadU(d, from + step + q),
                                    hn::LoadU(d, from + 2 * step + q), hn::LoadU(d, from + 3 * step + q)},
                          w1, w2, w3, quarter);
            hn::StoreU(out.a, d, to + q);
            hn::StoreU(out.b, d, to + floats + q);
            hn::StoreU(out.c, d, to + 2 * floats + q);
            hn::StoreU(out.e, d, to + 3 * floats + q);
        }
    }
}

// The first pass: one transform, whose results lie four by four.
template <class D>
void pass_of_one(D d, const FftPass& pass, bool inverse) {
    const hn::Repartition<double, D> pair;  // of real and imaginary part
    const auto sign = minus_in(d, inverse), quarter = minus_in(d, !inverse);
    const std::size_t step = pass.length / 2;  // floats of a quarter
    for (std::size_t p = 0; p < step; p += hn::Lanes(d)) {
        const float* from = pass.x + p;
        const FourOf<D> out = butterfly(
            d,
            FourOf<D>{hn::LoadU(d, from), hn::LoadU(d, from + step), hn::LoadU(d, from + 2 * step),
                      hn::LoadU(d, from + 3 * step)},
            turns_side_by_side(d, pass.turns + p, sign), turns_side_by_side(d, pass.turns + step + p, sign),
            turns_side_by_side(d, pass.turns + 2 * step + p, sign), quarter);
        hn::StoreInterleaved4(hn::BitCast(pair, out.a), hn::BitCast(pair, out.b), hn::BitCast(pair, out.c),
                              hn::BitCast(pair, out.e), pair, reinterpret_cast<double*>(pass.y + 4 * p));
    }
}

// False where the pass is too small for vectors.
bool radix_4(const float* x, float* y, const float* turns, std::size_t length, std::size_t stride,
             bool inverse) {
    const FftPass pass{x, y, turns, length, stride};
    const hn::ScalableTag<float> wide;
    const hn::CappedTag<float, 8> narrow;
    if (pass.stride == 1 && pass.length / 2 >= hn::Lanes(wide)) {
        pass_of_one(wide, pass, inverse);
    } else if (2 * pass.stride >= hn::Lanes(wide)) {
        pass_of_many(wide, pass, inverse);
    } else if (2 * pass.stride >= hn::Lanes(narrow)) {
        pass_of_many(narrow, pass, inverse);
    } else {
        return false;
    }
    return true;
}

#endif

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "tidemill/dsp/dsp_error.hpp"

namespace tidemill::dsp {

HWY_EXPORT(radix_4);

namespace {

// Products part by part: those of the library look for infinities.
Iq product(Iq a, Iq b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// The same pass by hand.
void plain_pass(const Iq* x, Iq* y, const Iq* turns, std::size_t length, std::size_t stride, bool inverse) {
    const std::size_t quarter = length / 4, step = stride * quarter;
    const auto turn = [&](std::size_t k) { return inverse ? std::conj(turns[k]) : turns[k]; };
    for (std::size_t p = 0; p < quarter; ++p) {
        for (std::size_t q = 0; q < stride; ++q) {
            const Iq *from = x + q + stride * p, a = from[0], b = from[step], c = from[2 * step],
                     e = from[3 * step];
            const Iq difference = b - e;
            const Iq turned = inverse ? Iq(-difference.imag(), difference.real())
                                      : Iq(difference.imag(), -difference.real());
            Iq* const to = y + q + 4 * stride * p;
            to[0] = a + c + b + e;
            to[stride] = product(turn(p), a - c + turned);
            to[2 * stride] = product(turn(quarter + p), a + c - b - e);
            to[3 * stride] = product(turn(2 * quarter + p), a - c - turned);
        }
    }
}

// exp(-2 pi j k / size) for k from 0 to a quarter of the size.
std::vector<Iq> turns_of_a_quarter(std::size_t size) {
    std::vector<Iq> turns(size / 4);
    for (std::size_t k = 0; k < turns.size(); ++k) {
        const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
        turns[k] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    }
    return turns;
}

// The same for k up to three quarters.
Iq turn_of(std::span<const Iq> quarter, std::size_t k) {
    const Iq turn = quarter[k & (quarter.size() - 1)];
    switch (k >> std::countr_zero(quarter.size())) {
        case 0:
            return turn;
        case 1:
            return {turn.imag(), -turn.real()};
        default:
            return -turn;
    }
}

void radix_2(Iq* x, std::size_t stride) {
    for (std::size_t q = 0; q < stride; ++q) {
        const Iq a = x[q], b = x[q + stride];
        x[q] = a + b;
        x[q + stride] = a - b;
    }
}

const float* floats_of_fft(const Iq* x) {
    return reinterpret_cast<const float*>(x);
}

}  // namespace

// Stockham's order of Cooley and Tukey 1965: radix four, decimation in frequency, no reordering.
Fft::Fft(std::size_t size) : size_(size), other_(size) {
    if (!std::has_single_bit(size)) throw DspError("a transform takes a power of two samples");
    if (size < 4) return;
    const std::vector<Iq> quarter = turns_of_a_quarter(size);
    turns_.reserve(size);
    for (std::size_t length = size; length >= 4; length /= 4)
        for (std::size_t power = 1; power <= 3; ++power)
            for (std::size_t p = 0; p < length / 4; ++p)
                turns_.push_back(turn_of(quarter, power * p * (size / length)));
}

// Passes write the one and the other by turns, so that the last one writes where the result belongs.
void Fft::transform(std::span<const Iq> from, std::span<Iq> to, bool inverse) {
    assert(from.size() == size_ && to.size() == size_);
    const Iq* x = from.data();
    bool into_result = (std::bit_width(size_) - 1) / 2 % 2 == 1;
    if (size_ < 4 || (into_result && x == to.data())) {
        copy_samples(from, other_);
        x = other_.data();
    }
    const Iq* turns = turns_.data();
    std::size_t length = size_, stride = 1;
    for (; length >= 4; length /= 4, stride *= 4, into_result = !into_result) {
        Iq* const y = into_result ? to.data() : other_.data();
        const bool done = HWY_DYNAMIC_DISPATCH(radix_4)(floats_of_fft(x), reinterpret_cast<float*>(y),
                                                        floats_of_fft(turns), length, stride, inverse);
        if (!done) plain_pass(x, y, turns, length, stride, inverse);
        turns += 3 * (length / 4);
        x = y;
    }
    if (size_ < 4) copy_samples(other_, to);
    if (length == 2) radix_2(to.data(), stride);
}

void fft(std::span<Iq> x) {
    Fft(x.size()).forward(x);
}

void inverse_fft(std::span<Iq> x) {
    Fft(x.size()).inverse(x);
}

}  // namespace tidemill::dsp
#endif
