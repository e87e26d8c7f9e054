#include "tidemill/dvbs2/receiver/rx_front.hpp"

#include <algorithm>

namespace tidemill::dvbs2 {

RxSpectrum::RxSpectrum(const RawLayout& layout)
    : Module("spectrum"), layout_(layout), samples_(layout.window_samples()) {}

void RxSpectrum::measure_block(Frame f) {
    const RawInfo& block = f[info][0];
    const dsp::SampleDefects found = layout_.convert(f[raw], block, samples_);
    defects_.non_finite += found.non_finite;
    defects_.clipped += found.clipped;
    if (found.clipped > 0) live_clipped_->fetch_add(found.clipped, std::memory_order_relaxed);
    f[spectrum][0] = measure_spectrum(layout_.geometry, block.block, samples_, kFollowedChunks);
}

void RxSpectrum::merge(Module& clone) {
    defects_.non_finite += static_cast<RxSpectrum&>(clone).defects_.non_finite;
    defects_.clipped += static_cast<RxSpectrum&>(clone).defects_.clipped;
}

void RxSpectrum::keep(Archive& archive) {
    std::uint64_t clipped = live_clipped();
    archive("defects", defects_)("live_clipped", clipped);
    live_clipped_->store(clipped, std::memory_order_relaxed);
}

RxCoarse::RxCoarse(const RawLayout& layout)
    : Module("coarse"), layout_(layout), coarse_(layout.geometry), samples_(layout.window_samples()) {}

KeptBlocks RxCoarse::decide(Frame f) {
    if (coarse_.found()) return coarse_.step(f[spectrum][0]);
    const RawInfo& block = f[info_in][0];
    layout_.convert(f[raw_in], block, samples_);
    return coarse_.step(measure_spectrum(layout_.geometry, block.block, samples_, 1));
}

Flow RxCoarse::follow_signal(Frame f) {
    const auto emit = [&](const Kept* kept) {
        f[info][0] = kept ? kept->info : f[info_in][0];
        const std::span<const std::byte> bytes = kept ? std::span(kept->raw) : f[raw_in];
        std::copy(bytes.begin(), bytes.end(), f[raw].begin());
        f[oscillator][0] = coarse_.next();
    };
    const auto keep = [&](Kept& kept) {
        kept.raw.assign(f[raw_in].begin(), f[raw_in].end());
        kept.info = f[info_in][0];
    };
    const Flow flow = f.at_end() ? keeper_.end([&] { return coarse_.finish(); }, emit)
                                 : keeper_.step([&] { return decide(f); }, keep, emit);
    tell();
    return flow;
}

void RxCoarse::keep(Archive& archive) {
    archive("coarse", coarse_)("keeper", keeper_);
    tell();
}

void RxCoarse::tell() {
    found_.store(coarse_.found(), std::memory_order_relaxed);
    frequency_.store(coarse_.frequency(), std::memory_order_relaxed);
    iq_offset_db_.store(coarse_.iq().offset_db(), std::memory_order_relaxed);
    iq_image_db_.store(coarse_.iq().image_db(), std::memory_order_relaxed);
}

RxFilter::RxFilter(const RawLayout& layout)
    : Module("filter"), layout_(layout), filter_(layout.geometry), samples_(layout.window_samples()) {}

void RxFilter::filter_block(Frame f) {
    const RawInfo& block = f[info][0];
    layout_.convert(f[raw], block, samples_);
    filter_.process(samples_, layout_.received(block), f[oscillator][0], f[filtered][0]);
}

Flow RxTiming::track_clock(Frame f) {
    const auto emit = [&](const FilteredBlock* kept) {
        read_symbols(interpolator_, kept ? *kept : f[filtered_in][0], tracker_.next(), f[symbols][0]);
    };
    const auto decide = [&] { return tracker_.step(f[filtered_in][0].info); };
    const auto keep = [&](FilteredBlock& kept) { kept = f[filtered_in][0]; };
    const Flow flow =
        f.at_end() ? keeper_.end([&] { return tracker_.finish(); }, emit) : keeper_.step(decide, keep, emit);
    clock_ppm_.store(tracker_.clock_ppm(), std::memory_order_relaxed);
    return flow;
}

void RxTiming::keep(Archive& archive) {
    archive("tracker", tracker_)("keeper", keeper_);
    clock_ppm_.store(tracker_.clock_ppm(), std::memory_order_relaxed);
}

}  // namespace tidemill::dvbs2
