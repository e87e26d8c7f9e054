#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/dvbs2/channel.hpp"
#include "tidemill/dvbs2/transmitter.hpp"
#include "tidemill/io/quantize.hpp"
#include "tidemill/io/ts_packet.hpp"
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
    bench::ask({"transmitter",
                "How many million symbols a second of QPSK 8/9 short does one core transmit, put "
                "through a channel and quantise to ci8?",
                "Msymbols/s"});

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

BENCHMARK_CAPTURE(make_stream, clean, ChannelConfig{})->Name("transmitter/clean");
BENCHMARK_CAPTURE(make_stream, noise, noisy_channel())->Name("transmitter/noise");
BENCHMARK_CAPTURE(make_stream, noise_clock_and_frequency, moving_channel())
    ->Name("transmitter/noise_clock_and_frequency");

}  // namespace
}  // namespace tidemill::dvbs2
