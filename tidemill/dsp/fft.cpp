#include "tidemill/dsp/fft.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <numbers>
#include <utility>

#include "tidemill/dsp/dsp_error.hpp"

namespace tidemill::dsp {

namespace {

void reorder(std::span<Iq> x) {
    for (std::size_t i = 1, j = 0; i < x.size(); ++i) {
        std::size_t bit = x.size() >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j |= bit;
        if (i < j) std::swap(x[i], x[j]);
    }
}

// One pair of halves. Products part by part: those of the library look for infinities.
void butterflies(float* even, float* odd, const float* turns, std::size_t floats) {
    for (std::size_t k = 0; k < floats; k += 2) {
        const float re = odd[k] * turns[k] - odd[k + 1] * turns[k + 1];
        const float im = odd[k] * turns[k + 1] + odd[k + 1] * turns[k];
        odd[k] = even[k] - re;
        odd[k + 1] = even[k + 1] - im;
        even[k] += re;
        even[k + 1] += im;
    }
}

void conjugate(std::span<Iq> x) {
    for (Iq& value : x) value = std::conj(value);
}

}  // namespace

// Cooley and Tukey 1965, radix two, decimation in time.
Fft::Fft(std::size_t size) : size_(size) {
    if (!std::has_single_bit(size)) throw DspError("a transform takes a power of two samples");
    turns_.reserve(size);
    for (std::size_t half = 1; half < size; half *= 2) {
        for (std::size_t k = 0; k < half; ++k) {
            const double angle = -std::numbers::pi * static_cast<double>(k) / static_cast<double>(half);
            turns_.emplace_back(std::polar(1.0, angle));
        }
    }
}

void Fft::forward(std::span<Iq> x) const {
    assert(x.size() == size_);
    reorder(x);
    auto* const floats = reinterpret_cast<float*>(x.data());
    for (std::size_t half = 1; half < size_; half *= 2) {
        const auto* turns = reinterpret_cast<const float*>(turns_.data() + half - 1);
        for (std::size_t start = 0; start < size_; start += 2 * half)
            butterflies(floats + 2 * start, floats + 2 * (start + half), turns, 2 * half);
    }
}

void Fft::inverse(std::span<Iq> x) const {
    conjugate(x);
    forward(x);
    conjugate(x);
}

void fft(std::span<Iq> x) {
    Fft(x.size()).forward(x);
}

void inverse_fft(std::span<Iq> x) {
    Fft(x.size()).inverse(x);
}

}  // namespace tidemill::dsp
