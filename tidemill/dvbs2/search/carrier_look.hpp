#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2 {

/// Symbols of a look, and with the samples before its filters; a carrier that is clear and alone shows in the
/// first few of them.
inline constexpr double kLookedAtSymbols = 17'000, kFirstLookSymbols = 4'500;

/// Carrier that is looked for.
struct LookConfig {
    double symbol_rate_hz = 0;
    double rolloff = 0.20;
    double near_hz = 0;  ///< of those with this symbol rate the nearest
};

/// A carrier as its spectrum shows it.
struct ObservedCarrier {
    double offset_hz = 0;     ///< of its centre, from the recording's
    double level_db = 0;      ///< of its power per hertz over what lies beside it
    double neighbour_hz = 0;  ///< from its centre to where the nearest other signal begins; 0: there is none
    double others_db = 0;     ///< of the power of all others over its own; meaningless without a neighbour

    /// Whether kFirstLookSymbols show it as more of them would: nothing lies beside it, and little noise in
    /// it.
    bool is_clear() const {
        constexpr double kClear_db = 6;
        return neighbour_hz == 0 && level_db > kClear_db;
    }
};

/// Finds a carrier by the shape of its spectrum, whatever is louder: flat, with the edges of its roll-off
/// half a symbol rate to either side. Reads about 16,000 symbols from the source, which must know its rate;
/// fewer show less. Nothing when no such carrier is there. Throws Dvbs2Error without rates.
std::optional<ObservedCarrier> look_for_carrier(io::SampleSource& source, const LookConfig& config);

}  // namespace tidemill::dvbs2
