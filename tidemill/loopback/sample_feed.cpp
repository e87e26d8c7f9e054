#include "tidemill/loopback/sample_feed.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tidemill/io/live/live_source.hpp"
#include "tidemill/io/live/quantize.hpp"

namespace tidemill::loopback {

namespace {

float amplitude(double dbfs) {
    return static_cast<float>(std::pow(10.0, dbfs / 20));
}

double noise_power(const dvbs2::ChannelConfig& config) {
    return config.samples_per_symbol * std::pow(10.0, -config.esn0_db / 10);
}

}  // namespace

RecordingFeed::RecordingFeed(const io::Recording& recording, bool repeat)
    : reader_(recording), repeat_(repeat) {}

void RecordingFeed::read(std::uint64_t first, std::span<std::byte> to) {
    const std::uint64_t all = reader_.recording().samples;
    const std::size_t size = dsp::bytes_per_sample(format());
    while (!to.empty() && (repeat_ || first < all)) {
        reader_.seek(first % all);
        const std::size_t got = reader_.read(to);
        if (got == 0) break;
        first += got / size;
        to = to.subspan(got);
    }
    std::ranges::fill(to, io::silent_byte(format()));
}

void SilentFeed::read(std::uint64_t, std::span<std::byte> to) {
    std::ranges::fill(to, std::byte{0});
}

void AirFeed::read(std::uint64_t first, std::span<std::byte> to) {
    samples_.resize(to.size() / sizeof(dsp::Iq));
    air_.read(first, samples_);
    std::memcpy(to.data(), samples_.data(), to.size());
}

ChannelFeed::ChannelFeed(std::unique_ptr<SampleFeed> feed, const dvbs2::ChannelConfig& config,
                         double level_dbfs, std::uint64_t first)
    : feed_(std::move(feed)),
      channel_(config),
      gain_in_(1 / amplitude(level_dbfs)),
      gain_out_(amplitude(level_dbfs) / static_cast<float>(std::sqrt(1 + noise_power(config)))),
      taken_(first),
      made_(first) {}

void ChannelFeed::read(std::uint64_t first, std::span<std::byte> to) {
    const std::uint64_t end = first + to.size() / sizeof(dsp::Iq);
    while (made_ + received_.size() < end) {
        const auto behind = static_cast<std::ptrdiff_t>(
            std::min<std::uint64_t>(received_.size(), first > made_ ? first - made_ : 0));
        received_.erase(received_.begin(), received_.begin() + behind);
        made_ += static_cast<std::uint64_t>(behind);
        make();
    }
    std::memcpy(to.data(), received_.data() + (first - made_), to.size());
    received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(end - made_));
    made_ = end;
}

void ChannelFeed::make() {
    constexpr std::size_t kBlockSamples = 1024;
    bytes_.resize(kBlockSamples * dsp::bytes_per_sample(feed_->format()));
    samples_.resize(kBlockSamples);
    feed_->read(taken_, bytes_);
    taken_ += kBlockSamples;
    dsp::convert_samples(feed_->format(), bytes_, samples_);
    for (dsp::Iq& sample : samples_) sample *= gain_in_;
    const std::size_t before = received_.size();
    channel_.process(samples_, received_);
    for (dsp::Iq& sample : std::span(received_).subspan(before)) sample *= gain_out_;
}

void ConvertedFeed::read(std::uint64_t first, std::span<std::byte> to) {
    samples_.resize(to.size() / dsp::bytes_per_sample(format_));
    bytes_.resize(samples_.size() * dsp::bytes_per_sample(feed_->format()));
    feed_->read(first, bytes_);
    dsp::convert_samples(feed_->format(), bytes_, samples_);
    io::quantize(samples_, 1, format_, to);
}

}  // namespace tidemill::loopback
