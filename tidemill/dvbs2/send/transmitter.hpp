#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dsp/interpolator.hpp"
#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/send/frame_modulator.hpp"
#include "tidemill/dvbs2/send/multiplexer.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2 {

/// Symbols to samples with a square-root raised-cosine pulse (EN 302 307-1, 5.6); mean power is that of the
/// symbols.
class PulseShaper {
  public:
    /// Symbols by which the pulse reaches to either side: symbol k peaks at sample (k + kReachSymbols) *
    /// samples.
    static constexpr int kReachSymbols = 20;

    /// With one sample a symbol there is no pulse: symbols pass as they are. Throws Dvbs2Error
    /// unless samples_per_symbol >= 1 and 0 < rolloff <= 1.
    PulseShaper(int samples_per_symbol, double rolloff);

    /// The samples that these symbols complete; valid until the next call.
    std::span<const dsp::Iq> process(std::span<const dsp::Iq> symbols);

    /// What remains of the last symbols; valid until the next call.
    std::span<const dsp::Iq> finish();

  private:
    dsp::Interpolator interpolator_;
    std::size_t samples_per_symbol_;
    std::vector<dsp::Iq> last_;     // symbols, as many as the next one needs before it
    std::vector<dsp::Iq> samples_;  // as many as any call made, so that none are cleared again
};

struct TransmitterConfig {
    Pls pls;
    int gold_code = 0;
    double rolloff = 0.20;       // 0.35, 0.25 or 0.20, as the BBHEADER can say
    int samples_per_symbol = 2;  // 1: the symbols themselves
};

/// The plain transmitter, one transport stream and constant coding: packets to samples of mean power 1.
class Transmitter {
  public:
    /// Throws Dvbs2Error when the settings cannot be sent.
    explicit Transmitter(const TransmitterConfig& config);

    /// Takes whole packets and appends the symbols of the PLFRAMEs that they fill.
    void modulate(std::span<const std::uint8_t> packets, std::vector<dsp::Iq>& symbols);

    /// Takes whole packets and appends the samples of the PLFRAMEs that they fill.
    void transmit(std::span<const std::uint8_t> packets, std::vector<dsp::Iq>& samples);

    /// Sends what remains in a padded frame and ends the signal.
    void finish(std::vector<dsp::Iq>& samples);

    const FrameModulator& modulator() const { return multiplexer_.modulator(pls_); }
    std::uint64_t frames() const { return multiplexer_.counts().frames; }

  private:
    Pls pls_;
    Multiplexer multiplexer_;
    PulseShaper shaper_;
    std::vector<dsp::Iq> symbols_;
};

}  // namespace tidemill::dvbs2
