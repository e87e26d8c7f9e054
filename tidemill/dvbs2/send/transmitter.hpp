#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2 {

class FrameModulator;

/// Settings of a transmitter.
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
    Transmitter(Transmitter&&) noexcept;
    ~Transmitter();

    /// Takes whole packets and appends the symbols of the PLFRAMEs that they fill.
    void modulate(std::span<const std::uint8_t> packets, std::vector<dsp::Iq>& symbols);

    /// Takes whole packets and appends the samples of the PLFRAMEs that they fill.
    void transmit(std::span<const std::uint8_t> packets, std::vector<dsp::Iq>& samples);

    /// Sends what remains in a padded frame and ends the signal.
    void finish(std::vector<dsp::Iq>& samples);

    const FrameModulator& modulator() const;
    std::uint64_t frames() const;

  private:
    struct Stages;

    std::unique_ptr<Stages> stages_;
};

}  // namespace tidemill::dvbs2
