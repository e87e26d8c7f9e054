// How long what came in takes to come out, where the samples set the pace.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/receiver/testing/timed_reception.hpp"
#include "tidemill/io/live/sample_ring.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;
using Clock = std::chrono::steady_clock;

const bool kAsked = bench::ask(
    {"live",
     "At a radio's pace, received in order on one core: within how many milliseconds of the last sample of a "
     "frame have 99 of 100 frames left, those kept for the lock left out? Beside it the first of all, by how "
     "much the second half's median is over the first half's, the most that waited in the ring, and what was "
     "lost.",
     "ms"});

constexpr Pls kPls{6, FrameSize::short_, true};  // QPSK 2/3

// Those that were kept until it was sure, and come at once.
constexpr int kFramesOfLock = 6;

double run_seconds() {
    const char* const told = std::getenv("TIDEMILL_BENCH_SECONDS");
    return told ? std::atof(told) : 4;
}

/// Samples in memory, each when a radio would give it.
class PacedSource final : public io::LiveSource {
  public:
    PacedSource(std::span<const std::byte> bytes, double rate_hz) : bytes_(bytes), rate_hz_(rate_hz) {}

    dsp::SampleFormat format() const override { return dsp::SampleFormat::ci8; }
    std::optional<double> sample_rate_hz() const override { return rate_hz_; }
    bool begin() override {
        start_ = Clock::now();
        return true;
    }
    void end() noexcept override {}
    std::size_t read(std::span<std::byte> to) override {
        const std::size_t count = std::min({to.size() / kSize, kPiece, bytes_.size() / kSize - given_});
        std::this_thread::sleep_until(time_of(static_cast<double>(given_ + count)));
        std::memcpy(to.data(), bytes_.data() + kSize * given_, kSize * count);
        given_ += count;
        return kSize * count;
    }
    /// When a radio has that many samples.
    Clock::time_point time_of(double samples) const {
        return start_ +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(samples / rate_hz_));
    }

  private:
    static constexpr std::size_t kSize = 2, kPiece = 2048;

    std::span<const std::byte> bytes_;
    double rate_hz_;
    std::size_t given_ = 0;
    Clock::time_point start_{};
};

struct LiveRun {
    std::vector<double> ms;  // of each good frame, in order
    ReceptionReport report;
    io::RingFill fill;
    io::SampleLosses lost;
};

LiveRun run_live(std::span<const std::byte> bytes, double symbol_rate_hz) {
    auto owned = std::make_unique<PacedSource>(bytes, 2 * symbol_rate_hz);
    const PacedSource& paced = *owned;
    io::SampleRing ring(std::move(owned), {.drops = true});
    LiveRun run;
    RxOutputs outputs;
    outputs.streams.packets = [](auto...) {};
    outputs.frames = [&](const ReceivedFrame& frame) {
        const auto symbols = frame.info.start + static_cast<std::uint64_t>(frame.info.symbols);
        const double end = 2 * (1 + 1e-6 * kTimedClockPpm) * static_cast<double>(symbols);
        const std::chrono::duration<double, std::milli> late = Clock::now() - paced.time_of(end);
        if (frame.good) run.ms.push_back(late.count());
    };
    ReceiverConfig config{.symbol_rate_hz = symbol_rate_hz};
    config.block_samples = live_block_samples({2 * symbol_rate_hz, symbol_rate_hz});
    config.live = true;
    Receiver receiver(ring, config, std::move(outputs));
    ring.begin();
    Sequence(receiver.graph()).run();
    run.report = receiver.report();
    run.fill = ring.fill();
    run.lost = ring.losses();
    return run;
}

// Ratio of the second half's median to the first half's.
double growth(const std::vector<double>& ms) {
    const auto middle = ms.begin() + static_cast<std::ptrdiff_t>(ms.size() / 2);
    return median({middle, ms.end()}) - median({ms.begin(), middle});
}

void live(benchmark::State& state, double symbol_rate_hz) {
    const double seconds = run_seconds();
    const double frame_symbols = layout_of(kPls).symbols;
    const auto frames =
        static_cast<std::size_t>(std::ceil(seconds * symbol_rate_hz / frame_symbols / 100) * 100);
    const auto bytes = make_recording({kPls, 8, frames});
    LiveRun run;
    for (auto _ : state) run = run_live(bytes, symbol_rate_hz);
    if (run.ms.size() < frames / 2) return state.SkipWithError("frames are missing");
    state.counters["first"] = run.ms.front();
    run.ms.erase(run.ms.begin(), run.ms.begin() + kFramesOfLock);
    state.counters["median"] = median(run.ms);
    state.counters["ours"] = quantile(run.ms, 0.99);
    state.counters["growth"] = growth(run.ms);
    state.counters["most"] = quantile(run.ms, 1);
    state.counters["target"] = std::max(60.0, 0.2e3 * frame_symbols / symbol_rate_hz + 20);
    const double sample_ms = 0.5e3 / symbol_rate_hz;
    state.SetLabel(
        fmt::format("{} frames, {} bad, locked after {}; ring {:.1f} of {:.0f} ms; {} samples lost",
                    run.ms.size(), run.report.totals.frames_bad, run.report.totals.lock_frames(),
                    sample_ms * static_cast<double>(run.fill.most_filled),
                    sample_ms * static_cast<double>(run.fill.capacity), run.lost.samples));
}
BENCHMARK_CAPTURE(live, 33_kBd, 33e3)->Name("live/33_kBd")->Apply(bench::once);
BENCHMARK_CAPTURE(live, 333_kBd, 333e3)->Name("live/333_kBd")->Apply(bench::once);
BENCHMARK_CAPTURE(live, 1_MBd, 1e6)->Name("live/1_MBd")->Apply(bench::once);
BENCHMARK_CAPTURE(live, 8_MBd, 8e6)->Name("live/8_MBd")->Apply(bench::once);

}  // namespace
}  // namespace tidemill::dvbs2
