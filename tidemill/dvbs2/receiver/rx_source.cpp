#include "tidemill/dvbs2/receiver/rx_source.hpp"

#include <algorithm>
#include <cstring>

namespace tidemill::dvbs2 {

RxSource::RxSource(io::SampleSource& source, const RawLayout& layout)
    : Module("source"), layout_(layout), source_(source), window_(layout.window_bytes()) {}

Flow RxSource::read_block(Frame f) {
    const std::size_t size = dsp::bytes_per_sample(layout_.format);
    const std::size_t history = layout_.geometry.history_samples();
    const std::size_t block = layout_.geometry.block_samples();
    std::memmove(window_.data(), window_.data() + block * size, history * size);
    const std::span<std::byte> fresh(window_.data() + history * size, block * size);
    const std::size_t filled = all_read_ ? 0 : fill(fresh);
    samples_ += filled;
    all_read_ |= filled < block;
    if (filled == 0 && !filters_hold_samples()) return Flow::stop;

    // The window's first sample is number block_ * block - history of the stream.
    const std::int64_t start = block_ * static_cast<std::int64_t>(block) - static_cast<std::int64_t>(history);
    const auto within = [&](std::int64_t sample) {
        const auto limit = static_cast<std::int64_t>(layout_.window_samples());
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(sample - start, 0, limit));
    };
    f[info][0] = {block_++, within(0), within(static_cast<std::int64_t>(samples_))};
    std::memcpy(f[raw].data(), window_.data(), window_.size());
    return Flow::ok;
}

// Sources may give less than is asked for; only nothing means the end.
std::size_t RxSource::fill(std::span<std::byte> to) {
    std::size_t bytes = 0;
    while (bytes < to.size()) {
        const std::size_t got = source_.read(to.subspan(bytes));
        if (got == 0) break;
        bytes += got;
    }
    return bytes / dsp::bytes_per_sample(layout_.format);
}

bool RxSource::filters_hold_samples() const {
    const FrontGeometry& geometry = layout_.geometry;
    const double end = static_cast<double>(samples_) + geometry.filter_taps() / 2.0;
    const double subblock = kSubblockSymbols * geometry.samples_per_symbol();
    return static_cast<double>(geometry.subblocks_before(block_)) * subblock < end;
}

}  // namespace tidemill::dvbs2
