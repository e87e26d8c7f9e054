#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/dvbs2/receiver/carrier_survey.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/io/live/stream_reader.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

// A short recording: so many of its frames, or symbols.
constexpr double kFewestFrames = 6, kFewestSymbols = 100'000;

struct RandomRecording {
    BandConfig band;
    BandCarrier carrier;

    std::string text() const {
        return fmt::format(
            "MODCOD {} {}{}, roll-off {}, {:.2f} samples a symbol, at {:+.3f} symbol rates, {:.1f} dB",
            carrier.pls.modcod, name(carrier.pls.size), carrier.pls.pilots ? " with pilots" : "",
            carrier.rolloff, band.sample_rate_hz / carrier.symbol_rate_hz,
            carrier.offset_hz / carrier.symbol_rate_hz, band.esn0_db);
    }
};

Pls random_pls(std::mt19937_64& random) {
    for (;;) {
        const Pls pls{static_cast<int>(random() % 28) + 1,
                      random() % 2 != 0 ? FrameSize::short_ : FrameSize::normal, random() % 2 != 0};
        if (pls.is_defined()) return pls;
    }
}

// One carrier of any MODCOD, 1 to 8 dB over its threshold, anywhere in a band of 1.6 to 20 symbol rates.
RandomRecording random_recording(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto between = [&](double low, double high) {
        return low + (high - low) * static_cast<double>(random() >> 11) / 9007199254740992.0;
    };
    RandomRecording made;
    made.carrier.pls = random_pls(random);
    made.carrier.rolloff = std::array{0.20, 0.25, 0.35}.at(random() % 3);
    made.band.sample_rate_hz = 2e6;
    const double ratio = 1.6 * std::pow(20 / 1.6, between(0, 1));
    made.carrier.symbol_rate_hz = made.band.sample_rate_hz / ratio;
    const double room =
        made.band.sample_rate_hz * 0.45 - made.carrier.symbol_rate_hz * (1 + made.carrier.rolloff) / 2;
    made.carrier.offset_hz = std::max(0.0, room) * between(-1, 1);
    made.band.esn0_db = find_modcod(made.carrier.pls.modcod)->esn0_threshold_db + between(1, 8);
    made.band.seconds = std::max(kFewestFrames * layout_of(made.carrier.pls).symbols, kFewestSymbols) *
                        between(1, 3) / made.carrier.symbol_rate_hz;
    made.band.seed = seed;
    return made;
}

// The work of `auto`: the carriers of the band are listened to, and one of them is DVB-S2's.
bool is_found(const RandomRecording& recording, std::string& why) {
    const auto bytes = as_ci16(make_band(recording.band, {&recording.carrier, 1}).samples);
    const auto open = [&] {
        return std::make_unique<io::MemoryReader>(bytes, dsp::SampleFormat::ci16,
                                                  recording.band.sample_rate_hz);
    };
    const auto found = find_carriers(*open()).carriers;
    why = fmt::format("{} carriers", found.size());
    bool is_there = false;
    for (const FoundCarrier& one : found) {
        const SurveyedCarrier heard = survey(open, one, SurveyDepth::frames);
        const double off = heard.symbol_rate_hz / recording.carrier.symbol_rate_hz - 1;
        why += fmt::format(", kind {} rate off {:.0f} ppm (seen {:.3f}) offset off {:.4f}",
                           static_cast<int>(heard.kind), 1e6 * off,
                           one.symbol_rate_hz / recording.carrier.symbol_rate_hz,
                           (one.offset_hz - recording.carrier.offset_hz) / recording.carrier.symbol_rate_hz);
        if (heard.kind != CarrierKind::dvbs2 && heard.kind != CarrierKind::dvbs2_weak) continue;
        if (is_there || std::abs(off) > 20e-6) return false;
        is_there = true;
    }
    return is_there;
}

}  // namespace

TEST_CASE("auto: 99 of 100 random recordings with one carrier somewhere are found") {
    const char* const told = std::getenv("TIDEMILL_AUTO_RECORDINGS");
    const std::uint64_t recordings = told ? std::strtoull(told, nullptr, 10) : 10;
    const char* const from = std::getenv("TIDEMILL_AUTO_FIRST");
    const std::uint64_t first = from ? std::strtoull(from, nullptr, 10) : 1;
    std::uint64_t missed = 0;
    for (std::uint64_t seed = first; seed < first + recordings; ++seed) {
        const RandomRecording recording = random_recording(seed);
        std::string why;
        if (is_found(recording, why)) continue;
        ++missed;
        fmt::print("seed {}: {}: {}\n", seed, recording.text(), why);
        std::fflush(stdout);
    }
    CHECK(missed <= recordings / 100);
}

}  // namespace tidemill::dvbs2
