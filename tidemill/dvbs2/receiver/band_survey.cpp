#include "tidemill/dvbs2/receiver/band_survey.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "tidemill/dvbs2/search/carrier_rates.hpp"
#include "tidemill/dvbs2/search/narrow_bands.hpp"
#include "tidemill/io/live/stream_reader.hpp"
#include "tidemill/machine/side_by_side.hpp"

namespace tidemill::dvbs2 {

namespace {

// Most that a survey listens to a carrier: symbols for its rate and its frames, time for its services.
constexpr double kHeardSymbols = 440'000, kHeardSeconds = 2.6;

// Each holds 8 MB of samples until its rate is known.
constexpr std::size_t kMeasuredTogether = 16;

/// A carrier, and where it is heard.
struct ToHear {
    FoundCarrier carrier;
    std::optional<NarrowBand> narrow{};      // none: in the band
    std::optional<double> symbol_rate_hz{};  // there
};

void take_out_narrow(const OpenSamples& open, std::span<ToHear*> wanted) {
    std::vector<FoundCarrier> carriers;
    std::vector<double> seconds;
    for (const ToHear* one : wanted) {
        carriers.push_back(one->carrier);
        seconds.push_back(std::max(kHeardSymbols / one->carrier.symbol_rate_hz, kHeardSeconds));
    }
    std::vector<NarrowBand> bands = narrow_bands(*open(), carriers, seconds);
    for (std::size_t k = 0; k < bands.size(); ++k) wanted[k]->narrow = std::move(bands[k]);
}

void measure_wide(const OpenSamples& open, std::span<ToHear*> wanted) {
    std::vector<FoundCarrier> carriers;
    for (const ToHear* one : wanted) carriers.push_back(one->carrier);
    for (std::size_t first = 0; first < carriers.size(); first += kMeasuredTogether) {
        const auto some =
            std::span(carriers).subspan(first, std::min(kMeasuredTogether, carriers.size() - first));
        const auto rates_hz = measure_symbol_rates(*open(), some);
        for (std::size_t k = 0; k < rates_hz.size(); ++k) wanted[first + k]->symbol_rate_hz = rates_hz[k];
    }
}

std::vector<ToHear> prepare_hearing(const OpenSamples& open, std::span<const FoundCarrier> carriers) {
    const double rate_hz = open()->sample_rate_hz().value();
    std::vector<ToHear> all(carriers.size());
    std::vector<ToHear*> narrow, wide;
    for (std::size_t k = 0; k < all.size(); ++k) {
        all[k].carrier = carriers[k];
        (is_narrow(rate_hz, carriers[k]) ? narrow : wide).push_back(&all[k]);
    }
    if (!narrow.empty()) take_out_narrow(open, narrow);
    if (!wide.empty()) measure_wide(open, wide);
    return all;
}

// In its own surroundings a carrier lies elsewhere.
SurveyedCarrier hear(const OpenSamples& open, const ToHear& one, SurveyDepth depth) {
    if (!one.narrow) return survey_at(one.symbol_rate_hz, open, one.carrier, depth);
    const auto open_narrow = [&]() -> std::unique_ptr<io::SampleSource> {
        return std::make_unique<io::MemoryReader>(std::as_bytes(std::span(one.narrow->samples)),
                                                  dsp::SampleFormat::cf32, one.narrow->sample_rate_hz);
    };
    FoundCarrier moved = one.carrier;
    moved.offset_hz = one.narrow->offset_hz;
    SurveyedCarrier heard = survey(open_narrow, moved, depth);
    heard.offset_hz += one.carrier.offset_hz - moved.offset_hz;
    heard.seen = one.carrier;
    return heard;
}

}  // namespace

std::vector<SurveyedCarrier> survey_all(const OpenSamples& open, std::span<const FoundCarrier> carriers,
                                        SurveyDepth depth, std::size_t threads,
                                        const std::function<void(std::size_t)>& listened) {
    std::vector<ToHear> all = prepare_hearing(open, carriers);
    std::vector<SurveyedCarrier> heard(all.size());
    std::mutex mutex;
    std::size_t done = 0;
    side_by_side(all.size(), threads, [&](std::size_t k) {
        heard[k] = hear(open, all[k], depth);
        all[k].narrow.reset();
        const std::scoped_lock lock(mutex);
        listened(++done);
    });
    return heard;
}

std::vector<SurveyedCarrier> survey_band(const OpenSamples& open, const FoundBand& band, SurveyDepth depth,
                                         std::size_t threads,
                                         const std::function<void(std::size_t)>& listened) {
    auto heard = survey_all(open, band.carriers, depth, threads, listened);
    for (const FoundCarrier& stretch : band.stretches) {
        const auto is_inside = [&](const SurveyedCarrier& one) { return stretch.covers(one.seen.offset_hz); };
        const auto tells_it = [&](const SurveyedCarrier& one) {
            return is_known(one.kind) && (is_inside(one) || one.seen.covers(stretch.offset_hz));
        };
        if (std::ranges::any_of(heard, tells_it)) continue;
        SurveyedCarrier carrier = survey(open, stretch, depth);
        if (!is_known(carrier.kind)) continue;
        carrier.seen.offset_hz = carrier.offset_hz;
        carrier.seen.symbol_rate_hz = carrier.symbol_rate_hz;
        std::erase_if(heard, [&](const SurveyedCarrier& one) {
            return is_inside(one) || (!is_known(one.kind) && carrier.seen.covers(one.seen.offset_hz));
        });
        heard.push_back(carrier);
    }
    std::ranges::sort(heard, {}, [](const SurveyedCarrier& one) { return one.seen.offset_hz; });
    return heard;
}

}  // namespace tidemill::dvbs2
