#include "tidemill/dvbs2/tuner/tuned_source.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "tidemill/dvbs2/dvbs2_error.hpp"

namespace tidemill::dvbs2 {

namespace {

// Blocks are of one size, whatever a source gives at a time, so that results do not depend on that; small
// where samples come slowly.
constexpr std::size_t kLeastBlock = 512, kMostBlock = 16384;
constexpr double kBlockSeconds = 0.005;

// Samples between two moves of the oscillator along a known way.
constexpr std::size_t kDopplerPiece = 512;

std::size_t block_samples(double sample_rate_hz) {
    constexpr auto kLeast = static_cast<double>(kLeastBlock);
    constexpr auto kMost = static_cast<double>(kMostBlock);
    return std::bit_ceil(static_cast<std::size_t>(std::clamp(sample_rate_hz * kBlockSeconds, kLeast, kMost)));
}

dsp::Tuner tuner_of(const io::SampleSource& source, const Tuning& tuning) {
    const auto rate = source.sample_rate_hz();
    if (!rate || !(tuning.symbol_rate_hz > 0))
        throw Dvbs2Error("a carrier is tuned to by the sample rate and its symbol rate: give both");
    check_tuning(*rate, tuning);
    return dsp::Tuner(tuner_config_of(*rate, tuning));
}

}  // namespace

TunedSource::TunedSource(std::unique_ptr<io::SampleSource> source, const Tuning& tuning)
    : source_(std::move(source)),
      tuning_(tuning),
      tuner_(tuner_of(*source_, tuning)),
      follower_(tuning.rolloff),
      bytes_(block_samples(*source_->sample_rate_hz()) * dsp::bytes_per_sample(source_->format())),
      block_(block_samples(*source_->sample_rate_hz())) {}

std::size_t TunedSource::read(std::span<std::byte> to) {
    while (given_ == tuned_.size()) {
        tuned_.clear();
        given_ = 0;
        if (!take_block()) return 0;
    }
    const std::size_t count = std::min(to.size() / sizeof(dsp::Iq), tuned_.size() - given_);
    std::memcpy(to.data(), tuned_.data() + given_, count * sizeof(dsp::Iq));
    given_ += count;
    return count * sizeof(dsp::Iq);
}

// The last block is followed by silence, until the filters have run empty.
bool TunedSource::take_block() {
    if (ended_) return false;
    const std::size_t count = read_block();
    ended_ = count < block_.size();
    tune_block(std::span(block_).first(count));
    if (!ended_) return true;
    const double ratio = *source_->sample_rate_hz() / tuning_.symbol_rate_hz;
    for (double left = kFlushSymbols * ratio; left > 0; left -= static_cast<double>(block_.size())) {
        std::fill(block_.begin(), block_.end(), dsp::Iq{});
        tuner_.process(block_, tuned_);
    }
    return true;
}

// The oscillator is moved between pieces, its phase goes on; where nothing is known of the carrier's way, the
// block is one.
void TunedSource::tune_block(std::span<dsp::Iq> samples) {
    const double rate_hz = *source_->sample_rate_hz();
    std::uint64_t at = samples_ - samples.size();
    const std::size_t piece = tuning_.doppler ? kDopplerPiece : samples.size();
    while (!samples.empty()) {
        const std::size_t count = std::min(piece, samples.size());
        const double middle_s = (static_cast<double>(at) + static_cast<double>(count) / 2) / rate_hz;
        tuner_.tune(tuning_.offset_hz + followed_hz() +
                    (tuning_.doppler ? tuning_.doppler->hz_at(middle_s) : 0));
        tuner_.process(samples.first(count), tuned_);
        samples = samples.subspan(count);
        at += count;
    }
    follower_.add(tuned_);
    followed_hz_.store(follower_.correction() * tuning_.symbol_rate_hz, std::memory_order_relaxed);
}

// Samples of the next block; fewer than fit mean the end.
std::size_t TunedSource::read_block() {
    const std::size_t size = dsp::bytes_per_sample(source_->format());
    std::size_t bytes = 0;
    while (bytes < bytes_.size()) {
        const std::size_t got = source_->read(std::span(bytes_).subspan(bytes));
        if (got == 0) break;
        bytes += got;
    }
    const std::size_t count = bytes / size;
    const auto found = dsp::convert_samples(source_->format(), std::span(bytes_).first(count * size),
                                            std::span(block_).first(count));
    defects_.clipped += found.clipped;
    defects_.non_finite += found.non_finite;
    samples_ += count;
    return count;
}

}  // namespace tidemill::dvbs2
