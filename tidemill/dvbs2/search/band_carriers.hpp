#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2 {

/// A carrier as the spectrum of a band shows it, before anybody has listened to it.
struct FoundCarrier {
    double offset_hz = 0;       ///< of its centre, from the recording's
    double symbol_rate_hz = 0;  ///< within a few percent: the width at half of its power
    double rolloff = 0.20;      ///< of those that are used the likeliest
    double level_db = 0;        ///< of its power per hertz over what lies beside it
    double power = 0;           ///< per hertz, to compare carriers
    double neighbour_hz = 0;    ///< from its centre to where the nearest other carrier begins; 0: none

    /// Whether a place lies within its band.
    bool covers(double hz) const { return std::abs(hz - offset_hz) < symbol_rate_hz * (1 + rolloff) / 2; }
};

/// Carriers in a spectrum.
struct FoundBand {
    std::vector<FoundCarrier> carriers{};  ///< from the lowest offset to the highest
    std::vector<double> tones_hz{};        ///< plain tones outside them, the strongest first
    /// Where there is more than usual without the shape of a carrier, from wide to narrow: an echo does that
    /// to one, and frames that repeat. Its symbol rate is not as sure, and it may hold some of the carriers.
    std::vector<FoundCarrier> stretches{};
};

/// Finds the carriers of a band by the shape of their spectra: wide and narrow, strong and weak, also beside
/// one another, from 1/1000 of the band to nearly all of it. The mirror images that a radio's I and Q make
/// are left out. Reads the first 2^25 samples at most, and looks at a quarter of those beyond 2^22; the
/// source must know its rate, else Dvbs2Error.
FoundBand find_carriers(io::SampleSource& source);

}  // namespace tidemill::dvbs2
