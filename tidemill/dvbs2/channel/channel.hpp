#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/resampler.hpp"
#include "tidemill/dvbs2/channel/disturbances.hpp"
#include "tidemill/dvbs2/channel/multipath.hpp"
#include "tidemill/dvbs2/channel/phase_mask.hpp"

namespace tidemill::dvbs2 {

/// A stretch in which nothing of the signal arrives; counted from its begin.
struct Dropout {
    double begin_symbols = 0.0;
    double symbols = 0.0;
};

/// Effects of a channel on a signal of mean power 1. Times are in symbols of the transmitter; what each value
/// may be, values_of() says.
struct ChannelConfig {
    double samples_per_symbol = 2.0;  // of the input
    double esn0_db = std::numeric_limits<double>::infinity();
    double frequency_cycles_per_symbol = 0.0;
    double drift_cycles_per_symbol2 = 0.0;
    double phase_rad = 0.0;
    double phase_noise_deg = 0.0;  // standard deviation of the phase walk over 1000 symbols
    double delay_symbols = 0.0;
    double clock_offset_ppm = 0.0;  // above 0 the receiver's sample clock is fast: more samples per symbol
    double clock_drift_ppm_per_symbol = 0.0;  // of that offset
    double rate_ratio = 1.0;                  // output over input sample rate
    bool inverted_spectrum = false;
    std::vector<Echo> echoes{};
    std::vector<Dropout> dropouts{};
    Disturbances disturbances{};
    std::vector<PhaseMaskPoint> phase_mask{};  // in the order of their frequencies; none: no such noise
    dsp::Iq iq_offset{};                       // what the receiver adds to I and Q (DC)
    double iq_gain_db = 0.0;                   // of its Q over its I
    double iq_angle_deg = 0.0;                 // by which they are off a right angle
    std::uint64_t lead_samples = 0;            // of noise alone, before and after the signal
    std::uint64_t tail_samples = 0;
    std::uint64_t seed = 1;
};

/// Turns clean samples into received ones: dropouts, echoes, clock and delay, frequency and phase, spectral
/// inversion, noise, pulses, tones, and what a receiver makes of it, in this order.
class Channel {
  public:
    /// Throws Dvbs2Error for the first of values_of() that is not possible.
    explicit Channel(const ChannelConfig& config);

    /// Takes more of the signal and appends what is received of it.
    void process(std::span<const dsp::Iq> in, std::vector<dsp::Iq>& out);

    /// Appends the end of the signal and the tail of noise.
    void finish(std::vector<dsp::Iq>& out);

  private:
    double next_angle_rad();
    std::span<const dsp::Iq> without_dropouts(std::span<const dsp::Iq> in);
    void read(std::span<const dsp::Iq> signal, std::vector<dsp::Iq>& out);
    void read_drifting(std::span<const dsp::Iq> signal, std::vector<dsp::Iq>& out);
    void turn(std::span<dsp::Iq> samples);
    void receive(std::vector<dsp::Iq>& out, std::size_t begin);
    void unbalance(std::span<dsp::Iq> samples) const;

    ChannelConfig config_;
    double input_step_;  // input samples per output sample
    float noise_amplitude_;
    double walk_step_rad_;
    std::optional<Multipath> multipath_;
    std::optional<PhaseMaskNoise> phase_noise_;
    std::optional<dsp::Resampler> resampler_;  // none when the clock is right and nothing is delayed
    std::vector<dsp::Iq> sent_, arrived_;      // scratch
    std::uint64_t taken_ = 0;                  // samples of the input so far
    std::uint64_t read_ = 0;                   // samples of the signal by a clock that drifts
    std::uint64_t signal_samples_ = 0;         // given out so far
    std::uint64_t samples_ = 0;                // the same with lead and tail
    double walk_rad_ = 0.0;
};

}  // namespace tidemill::dvbs2
