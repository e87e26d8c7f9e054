#include "tidemill/dvbs2/receiver/rx_source.hpp"

#include <algorithm>
#include <cstring>

#include "tidemill/dvbs2/dvbs2_error.hpp"

namespace tidemill::dvbs2 {

RxSource::RxSource(io::SampleSource& source, const RawLayout& layout, bool live)
    : Module("source"), layout_(layout), source_(source), live_(live), window_(layout.window_bytes()) {}

void RxSource::keep(Archive& archive) {
    archive.expect("window_bytes", window_.size());
    archive("window", window_)("all_read", all_read_)("block", block_)("samples", samples_);
    window_.resize(layout_.window_bytes());
    if (archive.gives_back() && !live_) read_up_to(samples_);
}

// Whatever stands between the samples and a file of them has to see them all.
void RxSource::read_up_to(std::uint64_t samples) {
    const std::size_t size = dsp::bytes_per_sample(layout_.format);
    std::vector<std::byte> passed(layout_.geometry.block_samples() * size);
    for (std::uint64_t left = samples; left > 0;) {
        const std::size_t wanted = std::min<std::uint64_t>(left, layout_.geometry.block_samples());
        const std::size_t got = fill(std::span(passed).first(wanted * size));
        if (got == 0)
            throw Dvbs2Error("the recording ends before the place at which the checkpoint was taken");
        left -= got;
    }
}

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
