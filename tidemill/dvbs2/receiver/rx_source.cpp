#include "tidemill/dvbs2/receiver/rx_source.hpp"

#include <algorithm>
#include <vector>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/tuner/read_all.hpp"

namespace tidemill::dvbs2 {

RxSource::RxSource(io::SampleSource& source, const RawLayout& layout, bool live)
    : SourceModule("source", source), layout_(layout), live_(live), windows_(layout) {}

void RxSource::keep(Archive& archive) {
    windows_.keep(archive);
    archive("all_read", all_read_);
    if (archive.gives_back() && !live_) read_up_to(samples());
}

// Any stage between the samples and a file of them has to see them all.
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
    adjust(f);
    const std::span<std::byte> fresh = windows_.begin(f[raw]);
    const std::uint64_t restarts = source_.restarts();
    const std::size_t filled = all_read_ ? 0 : fill(fresh);
    all_read_ |= filled < layout_.geometry.block_samples();
    if (filled == 0 && !windows_.filters_hold_samples()) return Flow::stop;
    f[info][0] = windows_.end(f[raw], filled);
    f[info][0].anew = source_.restarts() != restarts ? 1 : 0;
    return Flow::ok;
}

std::size_t RxSource::fill(std::span<std::byte> to) {
    return read_all(source_, to) / dsp::bytes_per_sample(layout_.format);
}

}  // namespace tidemill::dvbs2
