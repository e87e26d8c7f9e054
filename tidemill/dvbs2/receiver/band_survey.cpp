#include "tidemill/dvbs2/receiver/band_survey.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "tidemill/dvbs2/search/carrier_rates.hpp"
#include "tidemill/dvbs2/search/narrow_bands.hpp"
#include "tidemill/io/stream_reader.hpp"
#include "tidemill/platform/start_thread.hpp"

namespace tidemill::dvbs2 {

namespace {

// What a survey hears of a carrier at the most: symbols for its rate and its frames, time for its services.
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

/// Carriers that wait to be heard, for any thread.
class Hearing {
  public:
    Hearing(const OpenSamples& open, std::vector<ToHear> all, SurveyDepth depth,
            const std::function<void(std::size_t)>& listened)
        : open_(open), all_(std::move(all)), depth_(depth), listened_(listened), heard_(all_.size()) {}

    void work() {
        for (std::size_t k = next_++; k < all_.size(); k = next_++) {
            try {
                heard_[k] = hear(open_, all_[k], depth_);
            } catch (...) {
                const std::scoped_lock lock(mutex_);
                failure_ = std::current_exception();
                return;
            }
            all_[k].narrow.reset();
            const std::scoped_lock lock(mutex_);
            listened_(++done_);
        }
    }

    std::vector<SurveyedCarrier> result() {
        if (failure_) std::rethrow_exception(failure_);
        return std::move(heard_);
    }

  private:
    const OpenSamples& open_;
    std::vector<ToHear> all_;
    SurveyDepth depth_;
    const std::function<void(std::size_t)>& listened_;
    std::vector<SurveyedCarrier> heard_;
    std::atomic<std::size_t> next_{0};
    std::mutex mutex_{};
    std::size_t done_ = 0;
    std::exception_ptr failure_{};
};

}  // namespace

std::vector<SurveyedCarrier> survey_all(const OpenSamples& open, std::span<const FoundCarrier> carriers,
                                        SurveyDepth depth, std::size_t threads,
                                        const std::function<void(std::size_t)>& listened) {
    Hearing hearing(open, prepare_hearing(open, carriers), depth, listened);
    {
        std::vector<std::jthread> others;
        for (std::size_t k = 1; k < std::min(threads, carriers.size()); ++k)
            others.push_back(start_thread([&] { hearing.work(); }));
        hearing.work();
    }
    return hearing.result();
}

}  // namespace tidemill::dvbs2
