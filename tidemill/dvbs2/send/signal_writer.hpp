#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dvbs2/channel/channel.hpp"
#include "tidemill/dvbs2/send/transmitter.hpp"

namespace tidemill::dvbs2 {

/// A made-up recording: what is sent, what happens to it, and how it is stored.
struct SignalConfig {
    TransmitterConfig transmitter;
    ChannelConfig channel;  // its samples_per_symbol follows the transmitter's
    std::uint64_t frames = 100;
    double symbol_rate_hz = 1e6;
    dsp::SampleFormat format = dsp::SampleFormat::ci8;
    double level_dbfs = -12.0;  // root mean square of signal and noise, full scale is 0
};

/// Result of the writing.
struct WrittenSignal {
    std::uint64_t frames = 0;
    std::uint64_t packets = 0;  // handed to the transmitter; the last frame is padded when they end in it
    std::uint64_t samples = 0;
    std::uint64_t limited_samples = 0;
    double duration_s = 0;  // at the symbol rate
};

/// Writes a recording of at least `config.frames` PLFRAMEs that carry the packets again and again, in memory
/// that does not grow with its length. The path is that of a SigMF or raw file. Throws io::IoError when it
/// cannot be written and Dvbs2Error for impossible settings or no packets.
WrittenSignal write_signal(const SignalConfig& config, std::span<const std::uint8_t> packets,
                           const std::filesystem::path& path);

}  // namespace tidemill::dvbs2
