#include "tidemill/io/live/soapy_source.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/internal/make_apart.hpp"
#include "tidemill/io/live/live_kinds.hpp"
#include "tidemill/io/live/soapy_settings.hpp"

namespace tidemill::io {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kWaitUs = 100'000;            // at once: the thread that ends us waits no longer
constexpr std::int64_t kPatienceNs = 3 * kSecondNs;  // with a radio that has given samples
constexpr std::int64_t kFirstNs = 10 * kSecondNs;    // with one that has given none yet
constexpr double kMostSilenceS = 1;                  // no lock lasts longer

}  // namespace

/// A radio that gives samples.
struct SoapySource::OpenRadio {
    std::unique_ptr<SoapyDevice> radio{};
    std::unique_ptr<SoapyStream> stream{};  // the first to go
    dsp::SampleFormat format{};
    double rate_hz = 0;
};

SoapySource::SoapySource(const SoapyLibrary& library, std::string place, RadioSettings settings,
                         std::unique_ptr<LiveClock> clock)
    : library_(library),
      place_(std::move(place)),
      settings_(std::move(settings)),
      wanted_gain_db_(settings_.gain_db.value_or(0)),
      gain_db_(wanted_gain_db_),
      clock_(std::move(clock)) {}

SoapySource::~SoapySource() = default;

bool SoapySource::begin() {
    if (clock_->ended()) return false;
    const auto rate_hz = open();
    if (!rate_hz) return false;
    sample_rate_hz_ = *rate_hz;
    gaps_found_.emplace(sample_rate_hz_);
    gain_range_ = radio_->gain_db();
    if (!settings_.gain_db) wanted_gain_db_ = gain_db_ = gain_range_.least;
    return !clock_->ended();
}

std::vector<SourceControl> SoapySource::controls() const {
    if (!(gain_range_.most > gain_range_.least)) return {};
    return {{"gain_db", settings_.gain_db.value_or(gain_range_.least), gain_range_.least, gain_range_.most}};
}

// The reading thread sets the radio: not all drivers bear two threads.
void SoapySource::control(std::size_t /*index*/, double value) {
    wanted_gain_db_ = value;
}

// A radio that is opened again gets the gain that it had.
void SoapySource::adjust() {
    const double wanted_db = wanted_gain_db_;
    if (wanted_db == gain_db_ || !radio_) return;
    gain_db_ = wanted_db;
    try {
        set_gain(*radio_, wanted_db);
        settings_.gain_db = wanted_db;
        refuses_gain_ = false;
    } catch (const IoError&) {
        refuses_gain_ = true;
    }
}

// Returns the rate that the radio gives; nothing where the end is wanted before it is open, which takes some
// drivers long. The library outlives all that is opened by it.
std::optional<double> SoapySource::open() {
    auto opened = internal::make_apart<OpenRadio>(
        [&library = library_, place = place_, settings = settings_,
         format = any_came_ ? std::optional(format_) : std::nullopt] {
            OpenRadio open;
            open.radio = std::make_unique<SoapyDevice>(library, place, SoapyDirection::receive);
            open.rate_hz = set_up_radio(*open.radio, settings);
            open.format = format ? *format : SoapyStream::best_format(*open.radio);
            open.stream = std::make_unique<SoapyStream>(*open.radio, open.format);
            return open;
        },
        [this] { return clock_->ended(); });
    if (!opened) return std::nullopt;
    format_ = opened->format;
    stream_ = std::move(opened->stream);
    radio_ = std::move(opened->radio);
    last_came_ns_ = clock_->now_ns();
    return opened->rate_hz;
}

std::size_t SoapySource::read(std::span<std::byte> to) {
    to = to.first(to.size() - to.size() % dsp::bytes_per_sample(format_));
    while (!clock_->ended()) {
        adjust();
        if (silence_ > 0) return give_silence(to);
        if (given_of_kept_ < kept_.size()) return give_kept(to);
        if (!stream_) {
            look_for_radio();
        } else if (const std::size_t bytes = read_radio(to); bytes > 0) {
            return bytes;
        }
    }
    return 0;
}

std::size_t SoapySource::give_silence(std::span<std::byte> to) {
    const std::size_t size = dsp::bytes_per_sample(format_);
    const auto samples = std::min<std::uint64_t>(silence_, to.size() / size);
    silence_ -= samples;
    std::ranges::fill(to.first(samples * size), silent_byte(format_));
    return samples * size;
}

std::size_t SoapySource::give_kept(std::span<std::byte> to) {
    const std::size_t bytes = std::min(to.size(), kept_.size() - given_of_kept_);
    std::memcpy(to.data(), kept_.data() + given_of_kept_, bytes);
    given_of_kept_ += bytes;
    return bytes;
}

// Returns 0 where nothing came, or something else has to be given out first.
std::size_t SoapySource::read_radio(std::span<std::byte> to) {
    const std::size_t size = dsp::bytes_per_sample(format_);
    const auto outcome = stream_->read(to.data(), to.size() / size, kWaitUs);
    if (outcome.status <= 0) return nothing_came(outcome);
    return take(to.first(static_cast<std::size_t>(outcome.status) * size), outcome.time_ns);
}

std::size_t SoapySource::take(std::span<std::byte> samples, std::optional<std::int64_t> time_ns) {
    last_came_ns_ = clock_->now_ns();
    any_came_ = true;
    watch_for_zeros(samples);
    const std::uint64_t count = samples.size() / dsp::bytes_per_sample(format_);
    const std::uint64_t missing =
        gaps_found_->before({.samples = count, .time_ns = time_ns, .now_ns = last_came_ns_});
    if (std::exchange(overflow_, false) || missing > 0) ++gaps_;
    if (missing == 0) return samples.size();
    lose(missing, gaps_found_->is_exact());
    kept_.assign(samples.begin(), samples.end());
    given_of_kept_ = 0;
    return 0;
}

void SoapySource::lose(std::uint64_t samples, bool exact) {
    lost_samples_ += samples;
    if (!exact) estimated_ += samples;
    silence_ += std::min(samples, static_cast<std::uint64_t>(kMostSilenceS * sample_rate_hz_));
}

std::size_t SoapySource::nothing_came(const SoapyStream::Outcome& outcome) {
    if (outcome.is_overflow()) {
        gaps_found_->overflow();
        overflow_ = true;
    }
    const std::int64_t silent_ns = clock_->now_ns() - last_came_ns_;
    if (outcome.is_failure()) {
        vanish(stream_->error_text(outcome));
    } else if (silent_ns > (any_came_ ? kPatienceNs : kFirstNs)) {
        vanish(fmt::format("no samples for {} s", silent_ns / kSecondNs));
    }
    return 0;
}

// Settings with which not one sample came are not tried again and again.
void SoapySource::vanish(const std::string& why) {
    if (!any_came_)
        throw IoError(fmt::format(
            "the radio '{}' gives no samples ({}): is another program using it, is there enough power "
            "and bandwidth on its bus, does it need another rate?",
            place_, why));
    stream_.reset();
    radio_.reset();
    ++gaps_;
    is_gone_ = true;
    outage_.emplace(sample_rate_hz_, last_came_ns_, clock_->now_ns());
}

// Waits a little, or tries to open the radio when it is time for that; silence goes out meanwhile.
void SoapySource::look_for_radio() {
    count_outage();
    if (silence_ > 0) return;
    const std::int64_t left_ns = outage_->until_try_ns(clock_->now_ns());
    if (left_ns > 0) return clock_->wait_ns(std::min(left_ns, kWaitUs * 1000));
    std::optional<double> rate_hz;
    try {
        rate_hz = open();
    } catch (const IoError&) {
        return outage_->tried_in_vain(clock_->now_ns());
    }
    if (!rate_hz) return;
    if (*rate_hz != sample_rate_hz_)
        throw IoError(fmt::format("the radio '{}' has come back with {} instead of {} samples per second",
                                  place_, *rate_hz, sample_rate_hz_));
    gaps_found_.emplace(sample_rate_hz_);
    count_outage();
    outage_.reset();
    is_gone_ = false;
}

void SoapySource::count_outage() {
    const Outage::Missing more = outage_->count(clock_->now_ns());
    lost_samples_ += more.samples;
    estimated_ += more.samples;
    silence_ += more.silence;
}

void SoapySource::watch_for_zeros(std::span<const std::byte> samples) {
    if (!only_zeros_) return;
    const std::byte zero = silent_byte(format_);
    only_zeros_ = std::ranges::all_of(samples, [zero](std::byte byte) { return byte == zero; });
}

std::string SoapySource::trouble() const {
    if (is_gone_) return fmt::format("the radio '{}' has vanished, and is looked for", place_);
    if (refuses_gain_) return fmt::format("the radio '{}' refuses the gain that was set last", place_);
    if (any_came_ && only_zeros_)
        return fmt::format(
            "the radio '{}' gives only zeros: is something at its antenna, is --antenna or --gain another "
            "one?",
            place_);
    return {};
}

std::unique_ptr<LiveSource> open_soapy(const LiveRequest& request) {
    return std::make_unique<SoapySource>(SoapyLibrary::installed(), request.place, request.radio);
}

}  // namespace tidemill::io
