// Transmissions of one frame or two, with noise before and after.
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

struct Bursts {
    Pls pls;
    double esn0_db;
    std::size_t frames = 1;  // of each
};

constexpr std::uint64_t kBursts = 10;

// Each at its own frequency, phase and delay.
std::vector<dsp::Iq> samples_of(const Bursts& bursts) {
    std::vector<dsp::Iq> samples;
    for (std::uint64_t k = 0; k < kBursts; ++k) {
        const auto turn = static_cast<double>(k);
        const auto burst = make_reception(bursts.pls, bursts.frames,
                                          {.esn0_db = bursts.esn0_db,
                                           .frequency_cycles_per_symbol = 0.02 * (turn - 5),
                                           .phase_rad = turn,
                                           .delay_symbols = 0.13 * turn,
                                           .lead_samples = 80'000,
                                           .tail_samples = 80'000,
                                           .seed = k + 1})
                               .samples;
        samples.insert(samples.end(), burst.begin(), burst.end());
    }
    return samples;
}

std::uint64_t good_frames_of(const Bursts& bursts) {
    return receive(samples_of(bursts)).report.totals.frames_good();
}

// Live, in blocks of the length that 1 MBd has.
std::uint64_t good_frames_live(const Bursts& bursts) {
    const std::vector<dsp::Iq> samples = samples_of(bursts);
    MemorySource source(samples);
    ReceiverConfig config{.live = true};
    config.block_samples = live_block_samples({2e6, 1e6, config.rolloff, kMaxBlockSamples});
    Receiver receiver(source, config, [](auto) {});
    Sequence(receiver.graph()).run();
    return receiver.report().totals.frames_good();
}

}  // namespace

TEST_CASE("receiver: one frame alone is received, wherever it lies in noise") {
    for (const Bursts& bursts :
         {Bursts{{7, FrameSize::normal, false}, 5.1}, Bursts{{7, FrameSize::normal, true}, 5.1},
          Bursts{{1, FrameSize::normal, false}, 2.0}, Bursts{{1, FrameSize::normal, true}, -0.5},
          Bursts{{1, FrameSize::short_, false}, 2.0}, Bursts{{1, FrameSize::short_, true}, -0.5},
          Bursts{{7, FrameSize::short_, true}, 9.0}, Bursts{{7, FrameSize::short_, true}, 16.0},
          Bursts{{14, FrameSize::normal, true}, 9.0}, Bursts{{14, FrameSize::short_, false}, 9.0},
          Bursts{{20, FrameSize::normal, true}, 12.0}, Bursts{{20, FrameSize::short_, false}, 12.0},
          Bursts{{27, FrameSize::short_, true}, 17.5}}) {
        CAPTURE(int{bursts.pls.modcod});
        CAPTURE(bursts.esn0_db);
        CHECK(good_frames_of(bursts) >= kBursts - 1);
    }
}

TEST_CASE("receiver: one frame alone is received live, however far above the noise before it") {
    for (const double esn0_db : {9.0, 16.0, 20.0, 25.0, 35.0, 50.0}) {
        CAPTURE(esn0_db);
        CHECK(good_frames_live({{7, FrameSize::normal, true}, esn0_db}) >= kBursts - 1);
        CHECK(good_frames_live({{7, FrameSize::short_, true}, esn0_db}) >= kBursts - 1);
        CHECK(good_frames_of({{14, FrameSize::normal, true}, esn0_db}) >= kBursts - 1);
    }
}

TEST_CASE("receiver: two short frames alone are received") {
    CHECK(good_frames_of({{7, FrameSize::short_, true}, 5.1, 2}) == 2 * kBursts);
}

}  // namespace tidemill::dvbs2
