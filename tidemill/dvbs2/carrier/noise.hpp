#pragma once

#include <span>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2 {

/// How strong the symbols of a frame are, and how noisy.
struct SignalQuality {
    float amplitude = 1;       // of a symbol of unit energy
    float noise_variance = 1;  // of both axes together (N0)

    /// Es/N0, between -20 and 60 dB.
    float esn0_db() const;
};

/// Quality from symbols over their known values, as Carrier::remove() writes them; unbiased at any Es/N0,
/// with a standard deviation of 6 / sqrt(symbols) dB or a little more.
SignalQuality quality_of_known(std::span<const dsp::Iq> known);

/// Quality from the second and fourth moments of PSK symbols, whatever their phases; for frames with few
/// known ones.
SignalQuality quality_of_psk(std::span<const dsp::Iq> data);

/// The better of the two: from data where it is PSK and there are no pilots, otherwise from known symbols.
SignalQuality quality_of_frame(const Pls& pls, std::span<const dsp::Iq> data, std::span<const dsp::Iq> known);

}  // namespace tidemill::dvbs2
