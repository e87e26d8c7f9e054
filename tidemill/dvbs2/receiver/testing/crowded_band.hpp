#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tidemill/dvbs2/receiver/carrier_survey.hpp"
#include "tidemill/dvbs2/receiver/testing/repeated_source.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"

/// Many carriers of one band, and what a search made of them: for tests and benchmarks.
namespace tidemill::dvbs2::internal {

/// 20 MS/s of ten seconds with 24 carriers from 33 kBd to 4 MBd, each 2 dB over its threshold, which puts 15
/// dB between the powers of the strongest and the weakest, in equal widths. Ten seconds are the same two over
/// and over: every carrier has whole symbols and whole periods in them, so that only frames break off.
class CrowdedBand {
  public:
    static constexpr double kSampleRateHz = 20e6, kMadeSeconds = 2;
    static constexpr int kTimes = 5;

    CrowdedBand() {
        place_carriers();
        const double esn0_db = find_modcod(carriers_.front().pls.modcod)->esn0_threshold_db + kOverThreshold;
        auto samples = make_band({.sample_rate_hz = kSampleRateHz,
                                  .seconds = kMadeSeconds + kRunInSeconds,
                                  .esn0_db = esn0_db},
                                 carriers_)
                           .samples;
        // Without the beginning, where carriers have not begun yet.
        const auto first = static_cast<std::ptrdiff_t>(kRunInSeconds / 2 * kSampleRateHz);
        const auto count = static_cast<std::size_t>(kMadeSeconds * kSampleRateHz);
        bytes_ = as_ci16(std::span(samples).subspan(static_cast<std::size_t>(first), count));
    }

    const std::vector<BandCarrier>& carriers() const { return carriers_; }
    RepeatedSource open() const { return {bytes_, kSampleRateHz, kTimes}; }

    /// Faults in a survey's result, in words; empty: all carriers, no other, and their symbol rates.
    std::string faults_of(std::span<const SurveyedCarrier> heard) const {
        std::string faults;
        for (const SurveyedCarrier& one : heard) {
            if (std::ranges::none_of(carriers_, [&](const BandCarrier& sent) { return is_at(one, sent); }))
                faults +=
                    fmt::format("nothing of {:.0f} Bd at {:.0f} Hz\n", one.symbol_rate_hz, one.offset_hz);
        }
        for (const BandCarrier& sent : carriers_) {
            const auto found =
                std::ranges::find_if(heard, [&](const SurveyedCarrier& one) { return is_at(one, sent); });
            const double off = found == heard.end() ? 1 : found->symbol_rate_hz / sent.symbol_rate_hz - 1;
            if (found != heard.end() && found->kind == CarrierKind::dvbs2 && std::abs(off) < kRateError &&
                found->pls->modcod == sent.pls.modcod)
                continue;
            faults +=
                fmt::format("{:.0f} Bd at {:.0f} Hz, MODCOD {}: {}\n", sent.symbol_rate_hz, sent.offset_hz,
                            sent.pls.modcod,
                            found == heard.end() ? "not found"
                                                 : fmt::format("kind {}, symbol rate {:+.1f} ppm off",
                                                               static_cast<int>(found->kind), 1e6 * off));
        }
        return faults;
    }

  private:
    static constexpr double kOverThreshold = 2, kRunInSeconds = 0.1, kRateError = 20e-6;

    static bool is_at(const SurveyedCarrier& heard, const BandCarrier& sent) {
        return std::abs(heard.offset_hz - sent.offset_hz) < 0.1 * sent.symbol_rate_hz;
    }

    // Side by side, with the same room between all of them.
    void place_carriers() {
        constexpr std::array<double, 24> kRates{333e3, 33e3,  1e6,   50e3,  125e3, 4e6,   66e3,  250e3,
                                                500e3, 40e3,  2e6,   100e3, 333e3, 80e3,  1.1e6, 33e3,
                                                200e3, 650e3, 125e3, 800e3, 45e3,  300e3, 700e3, 60e3};
        constexpr std::array<int, 24> kModcods{6,  24, 1, 18, 12, 4, 21, 14, 1, 6,  12, 18,
                                               23, 4,  6, 1,  20, 4, 24, 14, 6, 12, 21, 18};
        constexpr std::array<double, 3> kRolloffs{0.20, 0.25, 0.35};
        constexpr double kWidth = 1.35, kFirstHz = -9.3e6, kBandHz = 18.4e6, kShortBelow = 200e3;
        double widths_hz = 0;
        for (const double rate : kRates) widths_hz += kWidth * rate;
        const double room_hz = (kBandHz - widths_hz) / (kRates.size() - 1);
        const double first_db = find_modcod(kModcods[0])->esn0_threshold_db;
        double at_hz = kFirstHz;
        for (std::size_t k = 0; k < kRates.size(); ++k) {
            const double rate = kRates[k];
            carriers_.push_back(
                {.symbol_rate_hz = rate,
                 .offset_hz = std::round(at_hz + kWidth * rate / 2),
                 .level_db = find_modcod(kModcods[k])->esn0_threshold_db - first_db,
                 .rolloff = kRolloffs[k % kRolloffs.size()],
                 .pls = {kModcods[k], rate < kShortBelow ? FrameSize::short_ : FrameSize::normal,
                         k % 2 == 0}});
            at_hz += kWidth * rate + room_hz;
        }
    }

    std::vector<BandCarrier> carriers_{};
    std::vector<std::byte> bytes_{};
};

}  // namespace tidemill::dvbs2::internal
