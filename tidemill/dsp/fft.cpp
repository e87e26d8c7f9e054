#include "tidemill/dsp/fft.hpp"

#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>
#include <vector>

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

// Cooley and Tukey 1965, radix two, decimation in time.
void transform(std::span<Iq> x, double sign) {
    if (!std::has_single_bit(x.size())) throw DspError("a transform takes a power of two samples");
    reorder(x);
    std::vector<Iq> turns(x.size() / 2);
    for (std::size_t k = 0; k < turns.size(); ++k) {
        const double angle =
            sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(x.size());
        turns[k] = Iq(std::polar(1.0, angle));
    }
    for (std::size_t half = 1; half < x.size(); half *= 2) {
        const std::size_t stride = x.size() / (2 * half);
        for (std::size_t start = 0; start < x.size(); start += 2 * half) {
            for (std::size_t k = 0; k < half; ++k) {
                const Iq odd = x[start + half + k] * turns[k * stride];
                x[start + half + k] = x[start + k] - odd;
                x[start + k] += odd;
            }
        }
    }
}

}  // namespace

void fft(std::span<Iq> x) {
    transform(x, -1);
}

void inverse_fft(std::span<Iq> x) {
    transform(x, 1);
}

}  // namespace tidemill::dsp
