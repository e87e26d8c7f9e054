#pragma once

#include <array>
#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {

/// Products of neighbours in a header whose value is known: 25 in the SOF, 32 in the PLS code but for one
/// sign.
inline constexpr int kHeaderProducts = 25 + 32;

/// Products that make the two sums: the first `plus` offsets of a part are added, the others subtracted.
struct HeaderTaps {
    struct Part {
        std::array<int, 32> offsets;
        int plus, count;
    };
    Part sof, pls;
};
const HeaderTaps& header_taps();

/// The two sums of one place, both turned by a quarter and by the frequency.
struct HeaderSums {
    dsp::Iq sof, pls;
};

/// Writes symbols[i + 1] conj(symbols[i]) as two planes; the last value is 0.
void multiply_neighbours(std::span<const dsp::Iq> symbols, std::span<float> re, std::span<float> im);

/// The sums at the start of two planes of at least 89 products.
HeaderSums correlate_at(std::span<const float> re, std::span<const float> im);

/// For each offset i writes max(|sof + pls|^2, |sof - pls|^2); the planes are 89 longer than `metric`.
/// Returns the mean energy of the products.
float correlate_headers(std::span<const float> re, std::span<const float> im, std::span<float> metric);

}  // namespace tidemill::dvbs2::internal
