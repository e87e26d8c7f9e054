#include "tidemill/dvbs2/receiver/raw_windows.hpp"

#include <algorithm>
#include <cstring>

namespace tidemill::dvbs2 {

std::span<std::byte> RawWindows::next() {
    const std::size_t size = dsp::bytes_per_sample(layout_.format);
    const std::size_t history = layout_.geometry.history_samples() * size;
    const std::size_t block = layout_.geometry.block_samples() * size;
    std::memmove(window_.data(), window_.data() + block, history);
    return std::span(window_).subspan(history, block);
}

RawInfo RawWindows::cut(std::size_t filled, std::span<std::byte> raw) {
    samples_ += filled;
    // The window's first sample is number block_ * block - history of the stream.
    const auto block = static_cast<std::int64_t>(layout_.geometry.block_samples());
    const std::int64_t start = block_ * block - static_cast<std::int64_t>(layout_.geometry.history_samples());
    const auto within = [&](std::int64_t sample) {
        const auto limit = static_cast<std::int64_t>(layout_.window_samples());
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(sample - start, 0, limit));
    };
    std::memcpy(raw.data(), window_.data(), window_.size());
    return {block_++, within(0), within(static_cast<std::int64_t>(samples_))};
}

bool RawWindows::filters_hold_samples() const {
    const FrontGeometry& geometry = layout_.geometry;
    const double end = static_cast<double>(samples_) + geometry.filter_taps() / 2.0;
    const double subblock = kSubblockSymbols * geometry.samples_per_symbol();
    return static_cast<double>(geometry.subblocks_before(block_)) * subblock < end;
}

void RawWindows::keep(Archive& archive) {
    archive.expect("window_bytes", window_.size());
    archive("window", window_)("block", block_)("samples", samples_);
    window_.resize(layout_.window_bytes());
}

}  // namespace tidemill::dvbs2
