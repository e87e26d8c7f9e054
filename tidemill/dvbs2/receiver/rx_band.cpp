#include "tidemill/dvbs2/receiver/rx_band.hpp"

#include <algorithm>
#include <utility>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/tuner/read_all.hpp"

namespace tidemill::dvbs2 {

namespace {

double rate_of_band(const io::SampleSource& source) {
    if (!source.sample_rate_hz()) throw Dvbs2Error("carriers are tuned to by the sample rate: give it");
    return *source.sample_rate_hz();
}

}  // namespace

RxBand::RxBand(io::SampleSource& source, bool live)
    : SourceModule("band", source),
      live_(live),
      band_(rate_of_band(source)),
      block_(dsp::BandSpectra::fresh(*source.sample_rate_hz())),
      bytes_(block_.size() * dsp::bytes_per_sample(source.format())) {}

std::span<Iq> RxBand::take_block() {
    const std::size_t size = dsp::bytes_per_sample(source_.format());
    const std::size_t count = read_all(source_, bytes_) / size;
    const auto samples = std::span(block_).first(count);
    const auto found = dsp::convert_samples(source_.format(), std::span(bytes_).first(count * size), samples);
    defects_.clipped += found.clipped;
    defects_.non_finite += found.non_finite;
    samples_ += count;
    return samples;
}

Flow RxBand::read_block(Frame f) {
    if (ended_) return Flow::stop;
    adjust(f);
    const std::span<Iq> samples = take_block();
    ended_ = samples.size() < block_.size();
    f[place][0] = spectra_.begin();
    SharedSpectra::Spectra& spectra = spectra_.at(f[place][0]);
    band_.process(samples, spectra);
    if (ended_) band_.finish(spectra);
    return Flow::ok;
}

RxTuner::RxTuner(double sample_rate_hz, const Tuning& tuning, const RawLayout& layout, SharedSpectra& spectra)
    : Module("tuner"),
      layout_(layout),
      range_(offset_control(sample_rate_hz, tuning)),
      spectra_(spectra),
      tuner_(sample_rate_hz, tuning),
      windows_(layout) {}

void RxTuner::take(std::uint32_t number) {
    tuned_.erase(tuned_.begin(), tuned_.begin() + static_cast<std::ptrdiff_t>(std::exchange(given_, 0)));
    tuner_.process(spectra_.at(number), tuned_);
    spectra_.done(number);
}

// A block of the band completes none, one or several of the carrier's; at the end come what the filters
// held, and blocks of nothing until the filters behind have run empty, too.
Flow RxTuner::tune_block(Frame f) {
    if (f.at_end()) {
        if (!std::exchange(ending_, true)) tuner_.finish(tuned_);
        return more_follow() ? cut(f, std::min<std::size_t>(waiting(), layout_.geometry.block_samples()))
                             : Flow::skip;
    }
    tuner_.move_to(f[offset_hz]);
    if (!repeating_) take(f[place][0]);
    return more_follow() ? cut(f, layout_.geometry.block_samples()) : Flow::skip;
}

bool RxTuner::more_follow() const {
    if (!ending_) return waiting() >= layout_.geometry.block_samples();
    return waiting() > 0 || windows_.filters_hold_samples();
}

Flow RxTuner::cut(Frame f, std::size_t count) {
    const std::span<std::byte> to = windows_.begin(f[raw]);
    const auto from = std::as_bytes(std::span(tuned_).subspan(given_, count));
    std::copy(from.begin(), from.end(), to.begin());
    given_ += count;
    f[info][0] = windows_.end(f[raw], count);
    repeating_ = more_follow();
    return repeating_ ? Flow::again : Flow::ok;
}

}  // namespace tidemill::dvbs2
