#include "tidemill/lab/bench/bench_transmitter.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>

#include "tidemill/dvbs2/send/tx_stages.hpp"

namespace tidemill::cli {

namespace {

constexpr dvbs2::Pls kSent{10, dvbs2::FrameSize::short_, false};  // QPSK 8/9
constexpr int kSamplesPerSymbol = 2;
constexpr double kRolloff = 0.2;

dvbs2::MultiplexerConfig sent() {
    dvbs2::MultiplexerConfig config;
    config.plan = {{kSent, {}}};
    return config;
}

/// Frames of random data.
class RandomFrames final : public Module {
  public:
    explicit RandomFrames(std::size_t bytes) : Module("data"), bytes_(bytes) {}

    OutUpTo<std::uint8_t> bbframe = out<std::uint8_t>("bbframe", upto(dvbs2::kMaxBbframeBytes));
    Label<dvbs2::TxFrame> about = label<dvbs2::TxFrame>("about");
    Task make = task("make", &RandomFrames::make_frame);

  private:
    void make_frame(Frame f) {
        f[about] = {.pls_code = kSent.code()};
        std::ranges::generate(f[bbframe].resize(bytes_),
                              [&] { return static_cast<std::uint8_t>(random_()); });
    }

    std::size_t bytes_;
    std::mt19937 random_{1};
};

}  // namespace

BenchTransmitter::BenchTransmitter() : multiplexer_(sent()), shaper_(kSamplesPerSymbol, kRolloff) {
    auto& data = graph_.add<RandomFrames>(multiplexer_.modulator(kSent).bbframe_bytes());
    const dvbs2::TxStages stages(graph_, multiplexer_, shaper_, std::nullopt);
    auto& send =
        graph_.add(task("send", in<dsp::Iq>("samples", upto(stages.most_samples)), [this](auto samples) {
            for (const dsp::Iq& sample : samples) energy_ += std::norm(sample);
        }));
    graph_.bind(data.bbframe, stages.modulator.bbframe);
    graph_.bind(stages.pulse->samples, send["samples"]);
}

}  // namespace tidemill::cli
