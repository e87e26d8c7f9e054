#pragma once

#include <memory>

#include "tidemill/dsp/tuner.hpp"
#include "tidemill/dvbs2/tuner/doppler_track.hpp"
#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2 {

/// Where a carrier lies in a recording, and what lies beside it.
struct Tuning {
    double symbol_rate_hz = 0;
    double rolloff = 0.20;
    double offset_hz = 0;  ///< of the carrier from the recording's centre
    /// From the carrier's centre to where its nearest neighbour begins; 0: there is none.
    double neighbour_hz = 0;
    /// Offset that a moving transmitter adds; null: none that is known.
    std::shared_ptr<const DopplerTrack> doppler{};
    double rate_hz = 0;  ///< at which the carrier is given; 0: tuned_rate_hz()
};

/// Samples a symbol that a carrier of this roll-off needs at the least, and at the most.
double least_samples_per_symbol(double rolloff);
inline constexpr double kMostSamplesPerSymbol = 20000;

/// Throws Dvbs2Error for rates at which the carrier cannot be received, or where it does not fit into the
/// band that was recorded.
void check_tuning(double sample_rate_hz, const Tuning& tuning);

/// The rate at which a tuner gives a carrier: its own rate halved as often as two samples a symbol are left,
/// for the receiver's matched filter takes any rate from there to twice that; two samples a symbol where it
/// is lower.
double tuned_rate_hz(double sample_rate_hz, double symbol_rate_hz);
double tuned_rate_hz(double sample_rate_hz, const Tuning& tuning);

/// How far a tuner's offset may be moved while it works: a symbol rate to either side, within the band.
/// Throws as check_tuning().
io::SourceControl offset_control(double sample_rate_hz, const Tuning& tuning);

/// Tuner's work for it, at that rate. Where a neighbour touches the band, the band's edge gives way, for
/// there is next to nothing in it.
dsp::TunerConfig tuner_config_of(double sample_rate_hz, const Tuning& tuning);

}  // namespace tidemill::dvbs2
