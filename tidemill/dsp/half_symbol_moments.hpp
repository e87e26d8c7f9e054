#pragma once

#include "tidemill/dsp/split_fir.hpp"

namespace tidemill::dsp {

/// Sums over a stretch of a stream at two samples per symbol: what a symbol-timing estimate is made of.
struct HalfSymbolMoments {
    float even_power = 0;  // sum of |even[n]|^2
    float odd_power = 0;   // sum of |odd[n]|^2
    float rising = 0;      // sum of Re(conj(even[n]) * odd[n])
    float falling = 0;     // sum of Re(conj(odd[n - 1]) * even[n])
};

/// Moments of even[1..] and odd[1..]; element 0 of each is the sample pair before the stretch.
HalfSymbolMoments half_symbol_moments(SplitView x);

}  // namespace tidemill::dsp
