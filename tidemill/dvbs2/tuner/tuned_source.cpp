#include "tidemill/dvbs2/tuner/tuned_source.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/tuner/read_all.hpp"

namespace tidemill::dvbs2 {

namespace {

double known_rate(const io::SampleSource& source, const Tuning& tuning) {
    const auto rate = source.sample_rate_hz();
    if (!rate || !(tuning.symbol_rate_hz > 0))
        throw Dvbs2Error("a carrier is tuned to by the sample rate and its symbol rate: give both");
    check_tuning(*rate, tuning);
    return *rate;
}

}  // namespace

// Source with one stretch: its spectrum is near when the carrier is taken out.
TunedSource::TunedSource(std::unique_ptr<io::SampleSource> source, const Tuning& tuning)
    : source_(std::move(source)),
      tuning_(tuning),
      rate_hz_(tuned_rate_hz(known_rate(*source_, tuning), tuning)),
      band_(*source_->sample_rate_hz()),
      tuner_(*source_->sample_rate_hz(), tuning),
      block_(dsp::BandSpectra::fresh(*source_->sample_rate_hz())),
      bytes_(block_.size() * dsp::bytes_per_sample(source_->format())) {}

std::vector<io::SourceControl> TunedSource::controls() const {
    std::vector<io::SourceControl> all = source_->controls();
    all.push_back(offset_control(*source_->sample_rate_hz(), tuning_));
    return all;
}

void TunedSource::control(std::size_t index, double value) {
    if (index < source_->controls().size())
        source_->control(index, value);
    else
        tuner_.move_to(value);
}

std::size_t TunedSource::read(std::span<std::byte> to) {
    while (given_ == tuned_.size()) {
        tuned_.clear();
        given_ = 0;
        if (!take_block()) return 0;
    }
    const std::size_t count = std::min(to.size() / sizeof(dsp::Iq), tuned_.size() - given_);
    std::memcpy(to.data(), tuned_.data() + given_, count * sizeof(dsp::Iq));
    given_ += count;
    return count * sizeof(dsp::Iq);
}

// Blocks are of one size, whatever the source gives at a time. The last one is followed by silence, until the
// filters have run empty.
bool TunedSource::take_block() {
    if (ended_) return false;
    const std::size_t count = read_block();
    ended_ = count < block_.size();
    tune(std::span(block_).first(count));
    if (ended_) tuner_.finish(tuned_);
    return true;
}

void TunedSource::tune(std::span<dsp::Iq> samples) {
    if (tuner_.spares_spectra()) {
        offset_.process(samples);
        tuner_.process_samples(samples, tuned_);
        return;
    }
    spectra_.clear();
    band_.process(samples, spectra_);
    if (ended_) band_.finish(spectra_);
    tuner_.process(spectra_, tuned_);
}

// Samples of the next block; fewer than fit mean the end.
std::size_t TunedSource::read_block() {
    const std::size_t size = dsp::bytes_per_sample(source_->format());
    const std::size_t count = read_all(*source_, bytes_) / size;
    const auto found = dsp::convert_samples(source_->format(), std::span(bytes_).first(count * size),
                                            std::span(block_).first(count));
    defects_.clipped += found.clipped;
    defects_.non_finite += found.non_finite;
    samples_ += count;
    return count;
}

}  // namespace tidemill::dvbs2
