#include "tidemill/dvbs2/send/signal_writer.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/io/recordings/recording_writer.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::dvbs2 {
namespace {

// Enough for a few frames at a time, so that no buffer grows large.
constexpr std::size_t kPacketsAtATime = 64;

ChannelConfig channel_of(const SignalConfig& config) {
    ChannelConfig channel = config.channel;
    channel.samples_per_symbol = config.transmitter.samples_per_symbol;
    return channel;
}

double sample_rate_hz(const SignalConfig& config) {
    return config.symbol_rate_hz * config.transmitter.samples_per_symbol * config.channel.rate_ratio;
}

// The signal has power 1 and the noise what the Es/N0 leaves it.
float gain_of(const SignalConfig& config) {
    const double samples_per_symbol = config.transmitter.samples_per_symbol * config.channel.rate_ratio;
    const double noise_power = samples_per_symbol * std::pow(10.0, -config.channel.esn0_db / 10.0);
    return static_cast<float>(std::pow(10.0, config.level_dbfs / 20.0) / std::sqrt(1.0 + noise_power));
}

io::RecordingWriter make_writer(const SignalConfig& config, const std::filesystem::path& path) {
    io::SigmfMetadata description;
    description.format = config.format;
    description.sample_rate_hz = sample_rate_hz(config);
    description.symbol_rate_hz = config.symbol_rate_hz;
    description.description = "DVB-S2, made by Tidemill; channel simulated";
    return {path, description, gain_of(config)};
}

}  // namespace

WrittenSignal write_signal(const SignalConfig& config, std::span<const std::uint8_t> packets,
                           const std::filesystem::path& path) {
    if (packets.empty() || !(config.symbol_rate_hz > 0.0) || !std::isfinite(config.symbol_rate_hz)) {
        throw Dvbs2Error("a signal needs at least one packet to carry and a symbol rate above 0");
    }
    Transmitter transmitter(config.transmitter);
    Channel channel(channel_of(config));
    auto writer = make_writer(config, path);
    WrittenSignal written;
    std::vector<dsp::Iq> clean;
    std::vector<dsp::Iq> received;
    const auto put_through = [&](bool last) {
        channel.process(clean, received);
        if (last) {
            channel.finish(received);
        }
        writer.write(received);
        clean.clear();
        received.clear();
    };
    std::size_t next = 0;
    while (transmitter.frames() < config.frames) {
        const auto bytes = std::min(kPacketsAtATime * io::kTsPacketBytes, packets.size() - next);
        transmitter.transmit(packets.subspan(next, bytes), clean);
        put_through(false);
        next = (next + bytes) % packets.size();
        written.packets += bytes / io::kTsPacketBytes;
    }
    transmitter.finish(clean);
    put_through(true);
    writer.close();
    written.frames = transmitter.frames();
    written.samples = writer.samples();
    written.limited_samples = writer.limited_samples();
    written.duration_s = static_cast<double>(written.samples) / sample_rate_hz(config);
    return written;
}

}  // namespace tidemill::dvbs2
