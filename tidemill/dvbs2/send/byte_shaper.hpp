#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dsp/sign_byte_interpolator.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"

namespace tidemill::dvbs2 {

/// Symbols of a frame to the bytes of samples: a PulseShaper and io::quantize() behind it, a piece at a time
/// that stays near. For two 8-bit samples a QPSK symbol no others are made before: those bytes may differ by
/// a step where the exact value lies within a few hundredths of a step of the border between two.
class ByteShaper {
  public:
    /// The shaper outlives it; `gain` is what samples are multiplied by.
    ByteShaper(const PulseShaper& shaper, dsp::SampleFormat format, float gain);

    std::size_t bytes_per_symbol() const {
        return shaper_.samples_per_symbol() * dsp::bytes_per_sample(format_);
    }

    /// The bytes of those samples that PulseShaper::shape() makes of the same, bytes_per_symbol() for each
    /// symbol. Returns how many samples were limited to full scale.
    std::uint64_t shape(std::span<const dsp::Iq> before, std::span<const dsp::Iq> symbols,
                        std::span<std::byte> bytes) const;

  private:
    std::uint64_t fill(std::span<const dsp::Iq> symbols, std::span<std::byte> bytes) const;

    const PulseShaper& shaper_;
    dsp::SampleFormat format_;
    float gain_;
    std::optional<dsp::SignByteInterpolator> by_signs_;
};

}  // namespace tidemill::dvbs2
