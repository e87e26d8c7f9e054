#include "tidemill/dvbs2/receiver/pushed_samples.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"

namespace tidemill::dvbs2 {

namespace {

// As many as the receiver takes at a time: to wake a thread costs as much as to receive 2000.
constexpr std::size_t kPushedChunkSamples = 16384;

// A chunk is being filled, and one is being read.
HandOverOptions room_for(const PushedConfig& config) {
    return {.frames = 1 + (config.waiting_samples + kPushedChunkSamples - 1) / kPushedChunkSamples};
}

}  // namespace

std::optional<double> known_rate(double rate_hz) {
    if (!(rate_hz >= 0))
        throw Dvbs2Error(fmt::format("{} samples a second: give more, or 0 for unknown", rate_hz));
    return rate_hz > 0 ? std::optional(rate_hz) : std::nullopt;
}

void check_whole(std::size_t bytes, std::size_t sample_bytes) {
    if (bytes % sample_bytes != 0)
        throw Dvbs2Error(fmt::format("{} bytes are no whole number of samples of {} bytes; push whole ones",
                                     bytes, sample_bytes));
}

PushedSamples::PushedSamples(const PushedConfig& config)
    : format_(config.format),
      sample_rate_hz_(known_rate(config.sample_rate_hz)),
      sample_bytes_(dsp::bytes_per_sample(config.format)),
      chunk_bytes_(kPushedChunkSamples * sample_bytes_),
      queue_(chunk_bytes_, room_for(config)) {}

std::size_t PushedSamples::read(std::span<std::byte> to) {
    const auto goes_on = [&] { return !cancelled_.load(std::memory_order_relaxed); };
    if (!goes_on()) return 0;
    if (!reading_) reading_ = queue_.to_empty(goes_on);
    if (!reading_) return 0;
    const std::size_t whole = to.size() / sample_bytes_ * sample_bytes_;
    const std::size_t bytes = std::min(whole, reading_->frames - read_);
    std::memcpy(to.data(), reading_->data(0) + read_, bytes);
    read_ += bytes;
    if (read_ == reading_->frames) {
        queue_.emptied(*reading_);
        reading_ = nullptr;
        read_ = 0;
    }
    return bytes;
}

Token* PushedSamples::next_chunk(bool waits) {
    Token* const token = queue_.to_fill([&] { return waits && !queue_.is_over(); });
    if (queue_.is_over()) throw Dvbs2Error(kReceptionIsOver);
    return token;
}

void PushedSamples::hand_over() {
    filling_->frames = static_cast<std::uint32_t>(filled_);
    queue_.filled(*filling_);
    filling_ = nullptr;
    filled_ = 0;
}

std::size_t PushedSamples::push(std::span<const std::byte> samples, bool waits) {
    if (finished_) throw Dvbs2Error(kBehindTheEnd);
    check_whole(samples.size(), sample_bytes_);
    std::size_t pushed = 0;
    while (pushed < samples.size()) {
        if (!filling_) filling_ = next_chunk(waits);
        if (!filling_) break;
        const std::size_t bytes = std::min(chunk_bytes_ - filled_, samples.size() - pushed);
        std::memcpy(filling_->data(0) + filled_, samples.data() + pushed, bytes);
        filled_ += bytes;
        pushed += bytes;
        if (filled_ == chunk_bytes_) hand_over();
    }
    return pushed;
}

void PushedSamples::finish() {
    if (finished_) return;
    finished_ = true;
    if (filling_ && filled_ > 0) hand_over();
    queue_.close();
}

}  // namespace tidemill::dvbs2
