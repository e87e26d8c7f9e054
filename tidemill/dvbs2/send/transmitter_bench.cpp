#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/dvbs2/channel/channel.hpp"
#include "tidemill/dvbs2/send/byte_shaper.hpp"
#include "tidemill/dvbs2/send/frame_modulator.hpp"
#include "tidemill/dvbs2/send/multiplexer.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"
#include "tidemill/dvbs2/send/transmitter.hpp"
#include "tidemill/io/live/quantize.hpp"
#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

std::vector<std::uint8_t> packets(std::size_t count) {
    std::vector<std::uint8_t> bytes(count * io::kTsPacketBytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = i % io::kTsPacketBytes == 0 ? io::kTsSyncByte : static_cast<std::uint8_t>(i * i >> 5);
    }
    return bytes;
}

const bool kAsked =
    bench::ask({"transmitter/channel",
                "How many million symbols a second of QPSK 8/9 short does one core transmit, put "
                "through a channel and quantise to ci8?",
                "Msymbols/s"}) &&
    bench::ask(
        {"transmitter/rate",
         "How many Mb/s of transport stream does one core make into ci8, short frames of rate 8/9 with "
         "pilots, two samples a symbol?",
         "Mb/s",
         {},
         "StreamPU, an EPYC of Zen 4"});

// Samples and their bytes as tidemill dvbs2 tx makes them, but for reading and writing.
void make_bytes(benchmark::State& state, int modcod, bench::Levels levels) {
    const Pls pls{modcod, FrameSize::short_, true};
    Multiplexer multiplexer({.plan = {{pls}}});
    const PulseShaper shaper(2, 0.20);
    const ByteShaper to_bytes(shaper, dsp::SampleFormat::ci8, 0.25F);
    const auto some = packets(10);
    std::vector<dsp::Iq> before(shaper.history());
    std::vector<dsp::Iq> symbols;
    std::vector<std::byte> bytes;
    for (auto _ : state) {
        symbols.clear();
        multiplexer.feed(0, some);
        while (multiplexer.send(symbols)) {
        }
        bytes.resize(symbols.size() * to_bytes.bytes_per_symbol());
        benchmark::DoNotOptimize(to_bytes.shape(before, symbols, bytes));
        if (symbols.size() >= before.size())
            std::copy(symbols.end() - static_cast<std::ptrdiff_t>(before.size()), symbols.end(),
                      before.begin());
    }
    bench::report_rate(state, 8e-6 * static_cast<double>(some.size()));
    if (levels.target > 0) state.counters["target"] = levels.target;
    if (levels.published > 0) state.counters["published"] = levels.published;
}
BENCHMARK_CAPTURE(make_bytes, qpsk, 10, {.published = 28, .target = 300})->Name("transmitter/rate/QPSK");
BENCHMARK_CAPTURE(make_bytes, psk8, 16, {})->Name("transmitter/rate/8PSK");
BENCHMARK_CAPTURE(make_bytes, apsk16, 22, {})->Name("transmitter/rate/16APSK");
BENCHMARK_CAPTURE(make_bytes, apsk32, 27, {})->Name("transmitter/rate/32APSK");

void make_stream(benchmark::State& state, const ChannelConfig& channel_config) {
    TransmitterConfig config;
    config.pls = {10, FrameSize::short_, true};
    Transmitter transmitter(config);
    Channel channel(channel_config);
    const auto some = packets(100);
    std::vector<dsp::Iq> clean;
    std::vector<dsp::Iq> noisy;
    std::vector<std::byte> bytes;
    for (auto _ : state) {
        clean.clear();
        noisy.clear();
        transmitter.transmit(some, clean);
        channel.process(clean, noisy);
        bytes.resize(2 * noisy.size());
        benchmark::DoNotOptimize(io::quantize(noisy, 0.25F, dsp::SampleFormat::ci8, bytes));
    }
    const auto symbols =
        static_cast<double>(transmitter.frames() * transmitter.modulator().plframe_symbols());
    bench::report_total(state, 1e-6 * symbols);
}

ChannelConfig noisy_channel() {
    ChannelConfig config;
    config.esn0_db = 7.5;
    return config;
}

ChannelConfig moving_channel() {
    auto config = noisy_channel();
    config.frequency_cycles_per_symbol = 0.05;
    config.delay_symbols = 0.37;
    config.clock_offset_ppm = 40.0;
    return config;
}

BENCHMARK_CAPTURE(make_stream, clean, ChannelConfig{})->Name("transmitter/channel/none");
BENCHMARK_CAPTURE(make_stream, noise, noisy_channel())->Name("transmitter/channel/noise");
BENCHMARK_CAPTURE(make_stream, noise_clock_and_frequency, moving_channel())
    ->Name("transmitter/channel/noise_clock_and_frequency");

}  // namespace
}  // namespace tidemill::dvbs2
