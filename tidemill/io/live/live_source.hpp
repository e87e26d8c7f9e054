#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::io {

/// The byte that silence is made of: the middle of unsigned samples lies between two values.
constexpr std::byte silent_byte(dsp::SampleFormat format) {
    return format == dsp::SampleFormat::cu8 ? std::byte{0x80} : std::byte{0};
}

/// Losses known between the samples that came.
struct SampleLosses {
    std::uint64_t gaps = 0;
    std::uint64_t samples = 0;
    std::uint64_t estimated = 0;  ///< of these samples, by the clock on the wall
};

/// Samples that come once, at their own pace: from a pipe, a network, a radio. A gap of known length is given
/// out as silence of that length, so that counts of samples stay right. One thread reads.
class LiveSource : public SampleSource {
  public:
    /// Connects, or waits for the other end, until format and rate are known; false where the stream ended
    /// before. Throws IoError.
    virtual bool begin() = 0;

    /// From any thread, between begin() and the end: what reads the samples is another one than what changes.
    void control(std::size_t /*index*/, double /*value*/) override {}

    /// From any thread: ends a wait in begin() or read(), and any later one.
    virtual void end() noexcept = 0;

    /// So far; from any thread.
    virtual SampleLosses losses() const { return {}; }

    /// Fault of what comes, in words; empty: there is none. From any thread.
    virtual std::string trouble() const { return {}; }

    /// Where the radio behind it is tuned, as far as it is known; from any thread.
    virtual std::optional<double> center_frequency_hz() const { return {}; }

    /// Oddities since the beginning, in words; empty where there are none. From any thread.
    virtual std::string remarks() const { return {}; }
};

}  // namespace tidemill::io
