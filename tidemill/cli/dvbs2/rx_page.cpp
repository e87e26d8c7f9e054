#include "tidemill/cli/dvbs2/rx_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/dsp/power_spectrum.hpp"
#include "tidemill/page/page_error.hpp"

namespace tidemill::cli {

namespace {

constexpr std::size_t kPoints = 400;
constexpr std::size_t kSpectrumBins = 256;
constexpr std::size_t kSpectrumSamples = 16 * kSpectrumBins;
constexpr std::chrono::milliseconds kPeriod{500};

// Three digits are what a picture shows.
double rounded(double value) {
    return std::isfinite(value) ? std::round(value * 1000) / 1000 : 0;
}

constexpr std::array<std::string_view, 8> kCounters{"frames",     "frames_bad",        "bch_corrected_bits",
                                                    "ts_packets", "continuity_errors", "samples_clipped",
                                                    "overflows",  "samples_missing"};

/// The line of a number; nothing for what is none.
struct MetricLine {
    std::string_view name;

    template <class Number>
    std::string line(Number value) const {
        const bool counts = std::ranges::find(kCounters, name) != kCounters.end();
        const std::string full = fmt::format("tidemill_rx_{}{}", name, counts ? "_total" : "");
        return fmt::format("# TYPE {} {}\n{} {}\n", full, counts ? "counter" : "gauge", full, value);
    }
    std::string operator()(bool truth) const { return line(truth ? 1 : 0); }
    std::string operator()(std::uint64_t number) const { return line(number); }
    std::string operator()(std::int64_t number) const { return line(number); }
    std::string operator()(double number) const { return std::isfinite(number) ? line(number) : ""; }
    std::string operator()(const auto&) const { return {}; }
};

}  // namespace

std::string metrics_text(const Json& status) {
    std::string text;
    if (const auto* members = status.get_if<Json::Object>()) {
        for (const auto& [name, value] : *members) text += value.visit(MetricLine{name});
    }
    return text;
}

RxPage::RxPage(OrAuto<int> port, dvbs2::Receiver& receiver, const io::TsMonitor& packets,
               const io::SampleRing* ring, const io::SampleSource& samples, std::string name)
    : name_(std::move(name)),
      input_rate_hz_(samples.sample_rate_hz().value_or(0)),
      format_(samples.format()),
      status_(receiver, packets, ring),
      since_start_(receiver, packets, ring),
      probes_(receiver.graph()),
      symbols_(probes_.add("carrier.data", kPoints)),
      samples_(probes_.add("spectrum.raw", kSpectrumSamples * dsp::bytes_per_sample(format_))) {
    try {
        server_.emplace(feed_, page::PageOptions{.port = static_cast<std::uint16_t>(port.value.value_or(0))});
    } catch (const page::PageError& error) {
        throw JobFailed(error.what());
    }
    ticks_.emplace(kPeriod, [this](double now_s) { publish(now_s); });
}

RxPage::~RxPage() {
    ticks_.reset();
    feed_.close();
}

void RxPage::publish(double now_s) {
    const Json status = status_.next(now_s);
    page::Snapshot snapshot;
    snapshot.status = to_text(status);
    snapshot.metrics = metrics_text(since_start_.since_start(now_s));
    const Json* lock = status.find("lock");
    snapshot.healthy = lock && lock->get_if<bool>() && *lock->get_if<bool>();
    snapshot.event = to_text(Json{{"source", name_},
                                  {"input_rate_hz", input_rate_hz_},
                                  {"status", status},
                                  {"constellation", points()},
                                  {"spectrum_db", spectrum_db()}});
    feed_.publish(std::move(snapshot));
}

// I and Q in turn.
Json RxPage::points() const {
    Json points = Json::array();
    const ProbeReading reading = symbols_.reading();
    if (reading.frames == 0) return points;
    for (const dsp::Iq& symbol : reading.values<dsp::Iq>()) {
        points.push_back(rounded(symbol.real()));
        points.push_back(rounded(symbol.imag()));
    }
    return points;
}

Json RxPage::spectrum_db() const {
    Json db = Json::array();
    const ProbeReading reading = samples_.reading();
    if (reading.frames == 0) return db;
    const std::size_t count = reading.value.size() / dsp::bytes_per_sample(format_);
    std::vector<dsp::Iq> samples(count);
    dsp::convert_samples(format_, std::span(reading.value).first(count * dsp::bytes_per_sample(format_)),
                         samples);
    dsp::PowerSpectrum spectrum(kSpectrumBins);
    spectrum.add(samples);
    for (const float power : spectrum.power())
        db.push_back(std::round(100 * std::log10(std::max(power, 1e-12F))) / 10);
    return db;
}

}  // namespace tidemill::cli
