#include "tidemill/dvbs2/receiver/rx_front.hpp"

#include <algorithm>
#include <cmath>

namespace tidemill::dvbs2 {

namespace {

// Power of a sample of the signal where it is strongest: the gain makes its power 1.
double least_power_of(const BlockOscillator& oscillator, std::int64_t history) {
    double gain = std::min(oscillator.gain, oscillator.gain_at(0, history));
    for (const AgcStep& step : oscillator.steps.all())
        gain = std::min(gain, oscillator.gain_at(step.place, history));
    return gain > 0 && std::isfinite(gain) ? 1 / (gain * gain) : 0;
}

}  // namespace

RxSpectrum::RxSpectrum(const RawLayout& layout)
    : Module("spectrum"),
      layout_(layout),
      samples_(layout.window_samples()),
      blanker_(layout.geometry),
      steps_(layout.geometry) {}

void RxSpectrum::measure_block(Frame f) {
    const std::span<const dsp::Ci8> bytes = layout_.bytes_in(f[raw], f[info][0]);
    bytes.empty() ? measure_samples(f) : measure_bytes(f, bytes);
}

void RxSpectrum::measure_samples(Frame f) {
    const RawInfo& block = f[info][0];
    const std::span<const Iq> samples = usable_samples(f);
    const bool is_copy = samples.data() == samples_.data();
    if (!is_copy) copy_chunks(layout_.geometry, block.block, samples, kFollowedChunks, samples_);
    blank_chunks(layout_.geometry, block.block, samples_, kFollowedChunks, blanker_);
    f[spectrum][0] = measure_spectrum(layout_.geometry, block.block, samples_, kFollowedChunks);
    if (!steps_.may_hold_one(samples)) return;
    if (!is_copy) dsp::copy_samples(samples, samples_);
    blanker_.blank(samples_);
    f[spectrum][0].steps = steps_.find(samples_, block.begin, block.end, block.block == 0);
}

// As they lie; all are converted where the level may step.
void RxSpectrum::measure_bytes(Frame f, std::span<const dsp::Ci8> bytes) {
    const RawInfo& block = f[info][0];
    count({.non_finite = 0, .clipped = dsp::count_clipped(bytes)});
    f[spectrum][0] = measure_spectrum(layout_.geometry, block.block, bytes, kFollowedChunks, blanker_);
    if (!steps_.may_hold_one(bytes)) return;
    layout_.convert(f[raw], block, samples_);
    blanker_.blank(samples_);
    f[spectrum][0].steps = steps_.find(samples_, block.begin, block.end, block.block == 0);
}

void RxSpectrum::count(const dsp::SampleDefects& found) {
    defects_.non_finite += found.non_finite;
    defects_.clipped += found.clipped;
    if (found.clipped > 0) live_clipped_->fetch_add(found.clipped, std::memory_order_relaxed);
}

// Where they lie, or converted; counts what is not usable of them.
std::span<const Iq> RxSpectrum::usable_samples(Frame f) {
    const std::span<const Iq> as_they_lie = layout_.samples_in(f[raw], f[info][0]);
    if (!as_they_lie.empty()) return as_they_lie;
    count(layout_.convert(f[raw], f[info][0], samples_));
    return samples_;
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
    : Module("coarse"),
      layout_(layout),
      coarse_(layout.geometry),
      tones_(layout.geometry),
      canceller_(layout.window_samples()),
      samples_(layout.window_samples()),
      chunk_(kToneBins),
      blanker_(layout.geometry) {}

KeptBlocks RxCoarse::decide(Frame f) {
    if (f[info_in][0].anew != 0) {
        coarse_.begin_anew();
        tones_ = ToneWatch(layout_.geometry);
        last_tones_ = {};
    }
    // A block in which samples begin anew also holds those from before.
    const bool following = coarse_.found();
    const bool looks = f[info_in][0].anew == 0 && tones_.wants(f[spectrum][0], following);
    if (following && !looks) return coarse_.step(f[spectrum][0]);
    layout_.convert(f[raw_in], f[info_in][0], samples_);
    if (looks) look_for_tones(f[info_in][0]);
    if (following && tones_.tones().count == 0) return coarse_.step(f[spectrum][0]);
    return coarse_.step(measure(f, following ? kFollowedChunks : 1));
}

// In the block's middle, where a tone that moves is neither first nor last. The edge of a signal that begins
// or ends there would look like tones.
void RxCoarse::look_for_tones(const RawInfo& block) {
    const std::size_t middle =
        layout_.geometry.history_samples() + layout_.geometry.chunks() / 2 * kChunkSamples;
    if (middle < block.begin || block.end < layout_.window_samples()) return;
    dsp::copy_samples(std::span(samples_).subspan(middle, kToneBins), chunk_);
    blanker_.blank(chunk_);
    tones_.look(chunk_, coarse_.iq().correction().offset);
    if (tones_.tones().count > 0 && coarse_.found()) last_tones_ = tones_.tones();
}

BlockSpectrum RxCoarse::measure(Frame f, std::uint32_t every) {
    const RawInfo& block = f[info_in][0];
    if (tones_.tones().count > 0) {
        const auto received = std::span(samples_).first(block.end);
        blanker_.blank(received);
        canceller_.cancel(received, tones_.tones(), f[spectrum][0].steps);
        blanker_.blank_again(received);
    } else {
        blank_chunks(layout_.geometry, block.block, samples_, every, blanker_);
    }
    BlockSpectrum all = measure_spectrum(layout_.geometry, block.block, samples_, every);
    all.steps = f[spectrum][0].steps;
    return all;
}

Flow RxCoarse::follow_signal(Frame f) {
    const auto emit = [&](const Kept* kept) {
        f[info][0] = kept ? kept->info : f[info_in][0];
        const std::span<const std::byte> bytes = kept ? std::span(kept->raw) : f[raw_in];
        std::copy(bytes.begin(), bytes.end(), f[raw].begin());
        BlockOscillator& turned = f[oscillator][0] = coarse_.next();
        // One that was seen later only was too weak to move.
        turned.tones = kept && kept->tones.count > 0 ? kept->tones : tones_.tones();
    };
    const auto keep = [&](Kept& kept) {
        kept.raw.assign(f[raw_in].begin(), f[raw_in].end());
        kept.info = f[info_in][0];
        kept.tones = tones_.tones();
    };
    const Flow flow = f.at_end() ? keeper_.end([&] { return coarse_.finish(); }, emit)
                                 : keeper_.step([&] { return decide(f); }, keep, emit);
    tell();
    return flow;
}

void RxCoarse::keep(Archive& archive) {
    archive("coarse", coarse_)("tones", tones_)("last_tones", last_tones_)("keeper", keeper_);
    tell();
}

void RxCoarse::tell() {
    tones_now_.set(tones_.tones());
    found_.store(coarse_.found(), std::memory_order_relaxed);
    frequency_.store(coarse_.frequency(), std::memory_order_relaxed);
    iq_offset_db_.store(coarse_.iq().offset_db(), std::memory_order_relaxed);
    iq_image_db_.store(coarse_.iq().image_db(), std::memory_order_relaxed);
}

RxFilter::RxFilter(const RawLayout& layout)
    : Module("filter"),
      layout_(layout),
      filter_(layout.geometry),
      blanker_(layout.geometry),
      canceller_(layout.window_samples()),
      samples_(layout.window_samples()) {}

void RxFilter::filter_block(Frame f) {
    const std::uint32_t count = layout_.received(f[info][0]);
    counts_->samples.fetch_add(count, std::memory_order_relaxed);
    const std::span<const dsp::Ci8> bytes = undisturbed_bytes(f);
    if (bytes.empty()) {
        filter_.process(undisturbed_samples(f), count, f[oscillator][0], f[filtered][0]);
    } else {
        filter_.process(bytes, count, f[oscillator][0], f[filtered][0]);
    }
    filter_.mark_erased(blanker_.runs(), f[filtered][0]);
}

// As they lie, if nothing is to be taken out of them; otherwise none.
std::span<const dsp::Ci8> RxFilter::undisturbed_bytes(Frame f) {
    const BlockOscillator& turned = f[oscillator][0];
    const std::span<const dsp::Ci8> bytes = layout_.bytes_in(f[raw], f[info][0]);
    const bool are_left = !turned.iq.changes_anything() && turned.tones.count == 0 && !bytes.empty() &&
                          blanker_.leaves_alone(bytes);
    return are_left ? bytes : std::span<const dsp::Ci8>();
}

// Where they lie, if nothing is to be taken out of them.
std::span<const Iq> RxFilter::undisturbed_samples(Frame f) {
    const RawInfo& block = f[info][0];
    const BlockOscillator& turned = f[oscillator][0];
    if (!turned.iq.changes_anything() && turned.tones.count == 0) {
        const std::span<const Iq> as_they_lie = layout_.samples_in(f[raw], block);
        if (!as_they_lie.empty() && blanker_.leaves_alone(as_they_lie)) return as_they_lie;
    }
    layout_.convert(f[raw], block, samples_);
    const std::uint32_t history = layout_.geometry.history_samples();
    const auto received = std::span(samples_).first(block.end);
    const std::uint32_t blanked =
        blanker_.blank(received, history, {least_power_of(turned, history), turned.loudest});
    if (blanked > 0) counts_->blanked.fetch_add(blanked, std::memory_order_relaxed);
    if (turned.iq.changes_anything()) dsp::correct_iq(received, turned.iq, received);
    canceller_.cancel(received, turned.tones, turned.steps);
    blanker_.blank_again(received);
    return samples_;
}

void RxFilter::keep(Archive& archive) {
    std::uint64_t samples = filtered_samples(), blanked = blanked_samples();
    archive("samples", samples)("blanked", blanked);
    counts_->samples.store(samples, std::memory_order_relaxed);
    counts_->blanked.store(blanked, std::memory_order_relaxed);
}

Flow RxTiming::track_clock(Frame f) {
    const auto emit = [&](const FilteredBlock* kept) {
        read_symbols(interpolator_, kept ? *kept : f[filtered_in][0], tracker_.next(), f[symbols][0]);
    };
    const auto decide = [&] { return this->decide(f[filtered_in][0].info); };
    const auto keep = [&](FilteredBlock& kept) { kept = f[filtered_in][0]; };
    const Flow flow =
        f.at_end() ? keeper_.end([&] { return tracker_.finish(); }, emit) : keeper_.step(decide, keep, emit);
    tell();
    return flow;
}

KeptBlocks RxTiming::decide(const FilteredInfo& info) {
    const std::int64_t oldest = tracker_.oldest_kept().value_or(info.block);
    const KeptBlocks decision = tracker_.step(info);
    if (decision.drop > 0) count_clockless({oldest, decision.drop});
    return decision;
}

void RxTiming::count_clockless(const ClocklessBlocks& dropped) {
    if (clockless_.first + clockless_.count != dropped.first) clockless_ = {dropped.first, 0};
    clockless_.count += dropped.count;
    if (clockless_.count <= longest_.count) return;
    longest_ = clockless_;
    longest_told_.offer(longest_);
}

void RxTiming::keep(Archive& archive) {
    archive("tracker", tracker_)("keeper", keeper_)("clockless", clockless_)("longest", longest_);
    longest_told_.set(longest_);
    tell();
}

void RxTiming::tell() {
    if (tracker_.locked()) clock_ppm_.store(tracker_.clock_ppm(), std::memory_order_relaxed);
    locked_.store(tracker_.locked(), std::memory_order_relaxed);
}

}  // namespace tidemill::dvbs2
