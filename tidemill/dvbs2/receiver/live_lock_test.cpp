#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/front/front_block.hpp"
#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

// Here 0.1 s are few symbols, and blocks as short as they get.
constexpr double kSymbolRate = 33e3;
constexpr double kTenth = 0.1 * kSymbolRate;  // symbols

constexpr std::size_t kFrames = 30;

struct LiveCase {
    Pls pls;
    double esn0_db;
    std::size_t lead_samples = 0;
};

/// By the symbols that had come in when good frames left.
struct LiveLock {
    double first_late = 0;       // the first one, after its end
    double first_behind_late{};  // the first one that ended after that
    std::size_t frames_lost = kFrames;
};

LiveLock lock_live(const LiveCase& c, std::uint64_t seed = 1) {
    const MadeReception made = make_reception(c.pls, kFrames,
                                              {.esn0_db = c.esn0_db,
                                               .frequency_cycles_per_symbol = 0.04,
                                               .clock_offset_ppm = 20,
                                               .lead_samples = c.lead_samples,
                                               .seed = seed});
    MemorySource source(made.samples);
    LiveLock lock;
    double locked_at = 0;
    const auto take = [&](const ReceivedFrame& frame) {
        if (!frame.good) return;
        const double now = static_cast<double>(source.given()) / 2;
        // Places are counted from where symbols were first kept, which is the signal's beginning or before.
        const double late = now - static_cast<double>(frame.info.start) - frame.info.symbols;
        if (lock.frames_lost-- == kFrames) lock.first_late = late, locked_at = now;
        if (lock.first_behind_late == 0 && now - late > locked_at) lock.first_behind_late = late;
    };
    const ReceiverConfig config{.symbol_rate_hz = 1,
                                .block_samples = live_block_samples({2 * kSymbolRate, kSymbolRate}),
                                .live = true};
    Receiver receiver(source, config, {.streams = {.packets = [](auto, auto) {}}, .frames = take});
    Sequence(receiver.graph()).run();
    return lock;
}

}  // namespace

TEST_CASE("live lock: a clear carrier's very first frame leaves within 0.1 s of its end, at 33 kBd") {
    for (const LiveCase& c : {LiveCase{{6, FrameSize::short_, true}, 8},
                              {{6, FrameSize::normal, true}, 8},
                              {{23, FrameSize::normal, true}, 14},
                              {{27, FrameSize::short_, true}, 18},
                              {{27, FrameSize::short_, false}, 18}}) {
        CAPTURE(c.pls.code());
        const LiveLock lock = lock_live(c);
        CHECK(lock.first_late < kTenth);
        CHECK(lock.frames_lost == 0);
    }
}

TEST_CASE("live lock: behind the lock frames leave within 0.1 s at 33 kBd, also near their threshold") {
    for (const LiveCase& c : {LiveCase{{1, FrameSize::short_, true}, -1.3},
                              {{4, FrameSize::short_, true}, 2},
                              {{13, FrameSize::short_, false}, 7},
                              {{12, FrameSize::normal, false}, 7},
                              {{18, FrameSize::short_, true}, 10},
                              {{27, FrameSize::short_, true}, 16.2},
                              {{27, FrameSize::short_, false}, 16.2}}) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            CAPTURE(c.pls.code());
            CAPTURE(seed);
            const LiveLock lock = lock_live(c, seed);
            CHECK(lock.first_behind_late > 0);
            CHECK(lock.first_behind_late < kTenth);
            CHECK(lock.frames_lost == 0);
        }
    }
}

TEST_CASE("live lock: behind noise at most the frame is lost in which the signal begins") {
    for (const std::size_t lead : {3000U, 40000U, 100000U}) {
        CAPTURE(lead);
        CHECK(lock_live({{6, FrameSize::short_, true}, 6, lead}).frames_lost <= 1);
        CHECK(lock_live({{24, FrameSize::short_, true}, 14, lead}).frames_lost <= 1);
    }
}

}  // namespace tidemill::dvbs2
