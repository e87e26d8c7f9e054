#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/apps/reception/level_fault.hpp"
#include "tidemill/apps/reception/reception_options.hpp"
#include "tidemill/apps/reception/scan_text.hpp"
#include "tidemill/apps/running/watch.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/io/files/hertz_text.hpp"
#include "tidemill/io/live/live_kinds.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

/// Where a radio is tuned to, step by step. In hertz.
struct ScanRange {
    double from = 0, to = 0;
};

struct Options {
    ReceptionOptions reception;
    std::optional<ScanRange> live{};
    bool json = false;
};

// Radios' filters fall off at both ends of what they give: this share of it is taken of each step.
constexpr double kUsedShare = 0.8;
constexpr double kMostSteps = 10000;

ScanRange parse_scan_range(const std::string& text) {
    const auto colon = text.find(':');
    const double from = io::real_number(text.substr(0, colon)).value_or(0);
    const double to = colon == std::string::npos ? 0 : io::real_number(text.substr(colon + 1)).value_or(0);
    if (!(from > 0) || !(to > from) || !std::isfinite(to))
        throw WrongUsage(fmt::format("--live {}: say from where to where, in hertz: 740M:750M", text));
    return {from, to};
}

// The middles of the steps that cover a range.
std::vector<double> steps_of(const ScanRange& range, double step_hz) {
    const double steps = std::ceil((range.to - range.from) / step_hz - 1e-9);
    if (steps > kMostSteps)
        throw WrongUsage(
            fmt::format("--live: {:.0f} steps of {} Hz are more than {:.0f}: take a narrower range or a "
                        "higher --rate",
                        steps, io::hertz_text(step_hz), kMostSteps));
    std::vector<double> middles;
    for (double k = 0.5; k < steps; ++k) middles.push_back(range.from + k * step_hz);
    return middles;
}

/// A user who interrupts gets what was heard, within a moment.
class ScanPatience {
  public:
    explicit ScanPatience(const Listening& user) : user_(user) {}

    bool is_over() {
        if (!user_.wants_end()) return false;
        const std::int64_t now_ns = Clock::now().time_since_epoch().count();
        std::int64_t none = 0;
        asked_ns_.compare_exchange_strong(none, now_ns);
        return now_ns - asked_ns_ > kMoment_ns;
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::int64_t kMoment_ns = 400'000'000;

    const Listening& user_;
    std::atomic<std::int64_t> asked_ns_{0};  // 0: not yet
};

// Carriers whose middles lie in a step; nothing when the user has interrupted.
std::optional<ScannedBand> scan_step(const Options& options, double middle_hz, double step_hz) {
    ReceptionOptions reception = options.reception;
    reception.radio.frequency_hz = middle_hz;
    const ReceptionJob job = prepare_band(reception);
    if (job.interrupted) return std::nullopt;
    tell("{:.6g} MHz\n", middle_hz / 1e6);
    ScannedBand band = scan_band(job, [](std::size_t, std::size_t) {});
    if (gives_up(job)) return std::nullopt;
    band.recording = reception.recording;
    band.how_to_read = reading_options(reception);
    const auto is_beyond = [&](double offset_hz) {
        return std::abs(offset_hz) > step_hz / 2 || middle_hz + offset_hz > options.live->to;
    };
    std::erase_if(band.carriers, [&](const auto& carrier) { return is_beyond(carrier.seen.offset_hz); });
    std::erase_if(band.tones_hz, is_beyond);
    return band;
}

int run_live_scan(Options options) {
    const Listening user({});
    options.reception.given_up = [&user] { return user.wants_end(); };
    const io::LiveKind* const kind = io::live_kind_of(options.reception.recording);
    if (!kind || !kind->is_radio)
        throw WrongUsage(
            fmt::format("--live: {} is no radio that could be tuned", options.reception.recording));
    if (!options.reception.sample_rate_hz)
        throw WrongUsage("--rate: say how many samples per second the radio is to give: --rate 2.4M");
    const double step_hz = kUsedShare * *options.reception.sample_rate_hz;
    std::vector<std::string> all;
    std::size_t carriers = 0;
    for (const double middle_hz : steps_of(*options.live, step_hz)) {
        const std::optional<ScannedBand> band = scan_step(options, middle_hz, step_hz);
        if (!band) break;
        carriers += band->carriers.size();
        if (options.json) all.push_back(scan_json(*band));
        if (!options.json && !(band->carriers.empty() && band->tones_hz.empty()))
            print("{:.6f} MHz\n{}", middle_hz / 1e6, scan_text(*band));
    }
    if (options.json) print("{}", fmt::format("[{}]\n", fmt::join(all, ",")));
    if (!options.json && carriers == 0) print("no carrier found\n");
    return carriers == 0 ? kJobFailed : kDone;
}

int run_scan(const Options& options) {
    if (options.live) return run_live_scan(options);
    const Listening user({});
    ScanPatience patience(user);
    ReceptionOptions reception = options.reception;
    reception.given_up = [&patience] { return patience.is_over(); };
    const ReceptionJob job = prepare_band(reception);
    if (job.interrupted && job.beginning.empty()) throw JobFailed("interrupted before samples came");
    for (const std::string& warning : job.warnings) warn(warning);
    ScannedBand band = scan_band(
        job, [](std::size_t done, std::size_t all) { tell("listened to {} of {} carriers\n", done, all); });
    if (user.wants_end()) warn("interrupted: not all was listened to");
    if (job.stream && !job.stream->remarks().empty()) warn(job.stream->remarks());
    band.recording = options.reception.recording;
    band.how_to_read = reading_options(options.reception);
    if (band.carriers.empty() && !job.stream)
        if (const std::string fault = level_fault(job.recording); !fault.empty()) warn(fault);
    print("{}", options.json ? scan_json(band) : scan_text(band));
    return band.carriers.empty() ? kJobFailed : kDone;
}

}  // namespace

void add_dvbs2_scan(Verb& dvbs2) {
    auto options = std::make_shared<Options>();
    Verb& verb = dvbs2.verb("scan", "Tell which carriers a recording holds, and what they are");
    verb.footer("Example: tidemill dvbs2 scan pass.sigmf-meta");
    add_recording_options(verb, options->reception);
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.parsed("--live", options->live, parse_scan_range,
                "Go over a radio's range in steps, from one frequency to another: 740M:750M")
        .excludes("--freq");
    add_radio_options(verb, options->reception.radio);
    verb.does([options] { return run_scan(*options); });
}

}  // namespace tidemill::cli
