#include "tidemill/dvbs2/receiver/raw_windows.hpp"

#include <algorithm>
#include <cstring>

namespace tidemill::dvbs2 {

RawWindows::RawWindows(const RawLayout& layout)
    : layout_(layout), history_(layout.geometry.history_samples() * dsp::bytes_per_sample(layout.format)) {}

std::span<std::byte> RawWindows::begin(std::span<std::byte> raw) const {
    std::memcpy(raw.data(), history_.data(), history_.size());
    return raw.subspan(history_.size());
}

RawInfo RawWindows::end(std::span<const std::byte> raw, std::size_t filled) {
    samples_ += filled;
    std::memcpy(history_.data(), raw.last(history_.size()).data(), history_.size());
    // The window's first sample is number block_ * block - history of the stream.
    const auto block = static_cast<std::int64_t>(layout_.geometry.block_samples());
    const std::int64_t start = block_ * block - static_cast<std::int64_t>(layout_.geometry.history_samples());
    const auto within = [&](std::int64_t sample) {
        const auto limit = static_cast<std::int64_t>(layout_.window_samples());
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(sample - start, 0, limit));
    };
    return {.block = block_++, .begin = within(0), .end = within(static_cast<std::int64_t>(samples_))};
}

bool RawWindows::filters_hold_samples() const {
    const FrontGeometry& geometry = layout_.geometry;
    const double end = static_cast<double>(samples_) + geometry.filter_taps() / 2.0;
    const double subblock = kSubblockSymbols * geometry.samples_per_symbol();
    return static_cast<double>(geometry.subblocks_before(block_)) * subblock < end;
}

void RawWindows::keep(Archive& archive) {
    archive.expect("window_bytes", layout_.window_bytes());
    const std::size_t size = history_.size();
    archive("history", history_)("block", block_)("samples", samples_);
    history_.resize(size);
}

}  // namespace tidemill::dvbs2
