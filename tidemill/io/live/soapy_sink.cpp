#include "tidemill/io/live/soapy_sink.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/quantize.hpp"
#include "tidemill/io/live/soapy_settings.hpp"

namespace tidemill::io {

namespace {

constexpr std::int64_t kPieceUs = 100'000;
constexpr std::int64_t kStuckNs = 3'000'000'000;
constexpr std::int64_t kLeavingNs = 250'000'000;  // what radios hold of samples, and more
constexpr double kSilenceS = 0.01;

// Symbols lie as far apart as the radio's samples say, so another rate is another signal.
double set_up_sender(const SoapyDevice& radio, const RadioSettings& settings) {
    constexpr double kMostOff = 1e-6;
    const double given_hz = set_up_radio(radio, settings);
    if (std::abs(given_hz / settings.sample_rate_hz - 1) <= kMostOff) return given_hz;
    throw IoError(fmt::format(
        "the radio '{}' gives {:.10g} samples per second instead of {:.10g}: take another --rate, which may "
        "be any whole multiple of the symbol rate",
        radio.place(), given_hz, settings.sample_rate_hz));
}

// Half a cosine: from 0 to 1.
float ramp(std::size_t at, std::size_t length) {
    const double part = (static_cast<double>(at) + 0.5) / static_cast<double>(length);
    return static_cast<float>((1 - std::cos(std::numbers::pi * part)) / 2);
}

}  // namespace

SoapySink::SoapySink(const SoapyLibrary& library, const std::string& place, const RadioSettings& settings,
                     const Config& config, std::unique_ptr<LiveClock> clock)
    : clock_(std::move(clock)),
      radio_(library, place, SoapyDirection::send),
      sample_rate_hz_(set_up_sender(radio_, settings)),
      format_(SoapyStream::best_format(radio_)),
      stream_(radio_, format_),
      config_(config) {
    send_silence(edge_samples(), Following::more);
}

void SoapySink::write(std::span<const dsp::Iq> samples) {
    if (stopped_) return;
    shape(samples);
    held_.insert(held_.end(), shaped_.begin(), shaped_.end());
    if (held_.size() <= config_.ramp_samples) return;
    const std::size_t ready = held_.size() - config_.ramp_samples;
    send(std::span(held_).first(ready), Following::more);
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(ready));
}

// The level, the limit, and the rise.
void SoapySink::shape(std::span<const dsp::Iq> samples) {
    shaped_.assign(samples.begin(), samples.end());
    for (dsp::Iq& sample : shaped_) {
        sample *= config_.gain;
        const float size = std::abs(sample);
        if (!(size <= 1)) {
            ++limited_samples_;
            sample = std::isfinite(size) ? sample / size : dsp::Iq{};
        }
        if (risen_ < config_.ramp_samples) sample *= ramp(risen_++, config_.ramp_samples);
    }
    samples_ += samples.size();
}

void SoapySink::rest(std::uint64_t samples) {
    fall();
    samples_ += samples;
    send_silence(samples, Following::more);
    risen_ = 0;
}

void SoapySink::close() {
    stopped_ = false;
    fall();
    send_silence(edge_samples(), Following::nothing);
    clock_->wait_ns(kLeavingNs);
    count_underflows();
}

void SoapySink::fall() {
    for (std::size_t i = 0; i < held_.size(); ++i) held_[i] *= ramp(held_.size() - 1 - i, held_.size());
    send(held_, Following::more);
    held_.clear();
}

std::uint64_t SoapySink::edge_samples() const {
    return static_cast<std::uint64_t>(std::ceil(kSilenceS * sample_rate_hz_));
}

void SoapySink::send_silence(std::uint64_t samples, Following following) {
    constexpr std::uint64_t kPiece = 1 << 20;
    while (samples > 0 && !stopped_) {
        const std::uint64_t count = std::min(samples, kPiece);
        samples -= count;
        send(std::vector<dsp::Iq>(count), samples > 0 ? Following::more : following);
    }
}

void SoapySink::send(std::span<const dsp::Iq> samples, Following following) {
    const std::size_t size = dsp::bytes_per_sample(format_);
    bytes_.resize(samples.size() * size);
    quantize(samples, 1, format_, bytes_);
    std::size_t done = 0;
    std::int64_t last_taken_ns = clock_->now_ns();
    while (done < samples.size() && !stopped_) {
        const auto outcome = stream_.write(bytes_.data() + done * size, samples.size() - done,
                                           following == Following::nothing, kPieceUs);
        if (outcome.status > 0) {
            done += static_cast<std::size_t>(outcome.status);
            last_taken_ns = clock_->now_ns();
        }
        if (outcome.is_underflow()) ++underflows_;
        if (outcome.is_failure() || clock_->now_ns() - last_taken_ns > kStuckNs)
            throw IoError(fmt::format("the radio '{}' takes no more samples: {}", radio_.place(),
                                      stream_.error_text(outcome)));
        count_underflows();
    }
}

void SoapySink::count_underflows() {
    while (stream_.written().is_underflow()) ++underflows_;
}

}  // namespace tidemill::io
