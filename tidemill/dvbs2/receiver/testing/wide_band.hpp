#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dsp/low_pass.hpp"
#include "tidemill/dsp/resampler.hpp"
#include "tidemill/dsp/rotator.hpp"
#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"
#include "tidemill/dvbs2/search/testing/dvbs_signal.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"
#include "tidemill/dvbs2/send/transmitter.hpp"
#include "tidemill/io/live/quantize.hpp"

/// Recordings of several carriers side by side, as a wide radio makes them: for tests.
namespace tidemill::dvbs2::internal {

/// One carrier of a band.
struct BandCarrier {
    double symbol_rate_hz = 1e6;
    double offset_hz = 0;
    double level_db = 0;  ///< of its power per hertz, over the first carrier's
    double rolloff = 0.20;
    Pls pls{6, FrameSize::short_, true};
    bool framed = true;  ///< false: QPSK without DVB-S2's frames
    int dvbs_rate = -1;  ///< of DVB-S instead, which of kDvbsRates
};

/// Band that is received.
struct BandConfig {
    double sample_rate_hz = 8e6;
    double seconds = 0.1;
    double esn0_db = 10;  ///< of the first carrier
    dsp::Iq dc{};         ///< what the radio adds, 1 for the first carrier's root mean square
    std::uint64_t seed = 1;
};

struct MadeBand {
    std::vector<dsp::Iq> samples;
    std::vector<std::uint8_t> packets;  ///< that the first carrier sent
};

/// A carrier of mean power 1 at two samples a symbol, and its packets.
inline MadeBand make_carrier(const BandCarrier& carrier, double seconds, std::uint64_t seed) {
    MadeBand made;
    const auto symbols = static_cast<std::size_t>(seconds * carrier.symbol_rate_hz);
    if (!carrier.framed || carrier.dvbs_rate >= 0) {
        std::mt19937_64 random(seed);
        std::vector<dsp::Iq> sent(symbols);
        for (dsp::Iq& symbol : sent)
            symbol = std::polar(1.0F, 0.785398F + 1.570796F * static_cast<float>(random() >> 62));
        if (carrier.dvbs_rate >= 0)
            sent = dvbs_symbols(symbols, kDvbsRates.at(static_cast<std::size_t>(carrier.dvbs_rate)), seed);
        PulseShaper shaper(2, carrier.rolloff);
        const auto shaped = shaper.process(sent);
        made.samples.assign(shaped.begin(), shaped.end());
        return made;
    }
    TransmitterConfig config;
    config.pls = carrier.pls;
    config.rolloff = carrier.rolloff;
    Transmitter transmitter(config);
    const std::size_t frame_bytes = transmitter.modulator().bbframe_bytes() - kBbHeaderBytes;
    for (std::uint64_t frame = 0; made.samples.size() < 2 * symbols; ++frame) {
        const auto packets = random_packets(frame_bytes / io::kTsPacketBytes + 1, seed * 1000003 + frame);
        transmitter.transmit(packets, made.samples);
        made.packets.insert(made.packets.end(), packets.begin(), packets.end());
    }
    transmitter.finish(made.samples);
    return made;
}

/// Samples at another rate, through a filter that keeps `pass` and stops `stop` on, in hertz.
inline std::vector<dsp::Iq> at_rate(std::span<const dsp::Iq> samples, double from_hz, double to_hz,
                                    double pass_hz, double stop_hz) {
    const dsp::LowPass response(pass_hz / from_hz, stop_hz / from_hz, 80);
    const std::size_t taps = 2 * response.reach();
    dsp::Resampler resampler(dsp::PolyphaseBank(taps, 2048, response), taps, 0, from_hz / to_hz);
    std::vector<dsp::Iq> out;
    resampler.process(samples, out);
    resampler.finish(out);
    return out;
}

/// All carriers, made wide and brought to the rate through a filter as radios have.
inline MadeBand make_band(const BandConfig& config, std::span<const BandCarrier> carriers) {
    double reach = config.sample_rate_hz / 2;
    for (const BandCarrier& carrier : carriers)
        reach = std::max(reach, std::abs(carrier.offset_hz) + carrier.symbol_rate_hz);
    const double wide_hz = 2.2 * reach;
    MadeBand band;
    std::uint64_t seed = config.seed;
    for (const BandCarrier& carrier : carriers) {
        MadeBand own = make_carrier(carrier, config.seconds, ++seed);
        const double rate = carrier.symbol_rate_hz;
        auto wide = at_rate(own.samples, 2 * rate, wide_hz, 0.7 * rate, 1.3 * rate);
        // The carrier of more symbols a second is stronger at equal power per hertz.
        const double gain =
            std::sqrt(std::pow(10, carrier.level_db / 10) * rate / carriers.front().symbol_rate_hz);
        dsp::rotate(wide, {0, carrier.offset_hz / wide_hz, gain}, wide);
        if (band.packets.empty()) band.packets = std::move(own.packets);
        if (band.samples.empty()) band.samples.resize(wide.size());
        for (std::size_t n = 0; n < std::min(wide.size(), band.samples.size()); ++n)
            band.samples[n] += wide[n];
    }
    band.samples = at_rate(band.samples, wide_hz, config.sample_rate_hz, 0.46 * config.sample_rate_hz,
                           0.54 * config.sample_rate_hz);
    const double noise =
        config.sample_rate_hz / carriers.front().symbol_rate_hz / std::pow(10, config.esn0_db / 10);
    dsp::add_gaussian_noise(config.seed, 0, static_cast<float>(std::sqrt(noise)), band.samples);
    for (dsp::Iq& sample : band.samples) sample += config.dc;
    return band;
}

/// The same as a radio's converter gives it: 16 bits, 12 dB of room above the root mean square.
inline std::vector<std::byte> as_ci16(std::span<const dsp::Iq> samples) {
    double power = 1e-30;
    for (const dsp::Iq& sample : samples) power += std::norm(sample);
    const double gain = 0.25 / std::sqrt(power / static_cast<double>(samples.size()));
    std::vector<std::byte> bytes(4 * samples.size());
    io::quantize(samples, static_cast<float>(gain), dsp::SampleFormat::ci16, bytes);
    return bytes;
}

}  // namespace tidemill::dvbs2::internal
