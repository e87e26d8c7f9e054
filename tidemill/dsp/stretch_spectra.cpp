#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/stretch_spectra.cpp"
#include "tidemill/dsp/stretch_spectra.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample: the plain loop at the end does it all

std::size_t add_products(const float*, const float*, std::size_t, float*) {
    return 0;
}

#else

// Returns how many floats are done.
std::size_t add_products(const float* x, const float* y, std::size_t floats, float* sums) {
    const hn::ScalableTag<float> d;
    const hn::Repartition<std::uint64_t, decltype(d)> bits;
    const auto minus_in_even = hn::BitCast(d, hn::Set(bits, 0x80000000ULL));
    std::size_t n = 0;
    for (; n + hn::Lanes(d) <= floats; n += hn::Lanes(d)) {
        const auto a = hn::LoadU(d, x + n), b = hn::LoadU(d, y + n);
        const auto turned = hn::Mul(hn::Reverse2(d, a), hn::Xor(hn::DupOdd(b), minus_in_even));
        hn::StoreU(hn::Add(hn::LoadU(d, sums + n), hn::MulAdd(a, hn::DupEven(b), turned)), d, sums + n);
    }
    return n;
}

#endif

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <fmt/format.h>

#include "tidemill/dsp/dsp_error.hpp"
#include "tidemill/dsp/low_pass.hpp"
#include "tidemill/dsp/rotator.hpp"

namespace tidemill::dsp {

HWY_EXPORT(add_products);

namespace {

// Bins by which a band may lie beside its offset until it moves: a little more than the half that it has to.
constexpr double kMostBeside = 0.75;

std::size_t overlap_of(std::size_t bins) {
    return bins - StretchSpectra::fresh(bins);
}

LowPass filter_of(const SpectrumBandConfig& config) {
    return {config.pass, config.stop, config.stop_db};
}

void add_products(std::span<const Iq> x, std::span<const Iq> y, std::span<Iq> sums) {
    const auto floats = [](const Iq* values) { return reinterpret_cast<const float*>(values); };
    std::size_t n = HWY_DYNAMIC_DISPATCH(add_products)(floats(x.data()), floats(y.data()), 2 * x.size(),
                                                       reinterpret_cast<float*>(sums.data())) /
                    2;
    for (; n < x.size(); ++n) {
        sums[n] += Iq(x[n].real() * y[n].real() - x[n].imag() * y[n].imag(),
                      x[n].real() * y[n].imag() + x[n].imag() * y[n].real());
    }
}

}  // namespace

StretchSpectra::StretchSpectra(std::size_t bins) : fft_(bins), stretch_(bins), filled_(bins - fresh(bins)) {
    if (bins < 16) throw DspError("stretches of a stream have 16 samples or more");
}

void StretchSpectra::process(std::span<const Iq> samples, AlignedVector<Iq>& spectra) {
    while (!samples.empty()) {
        const std::size_t count = std::min(samples.size(), bins() - filled_);
        copy_samples(samples.first(count), std::span(stretch_).subspan(filled_));
        filled_ += count;
        samples = samples.subspan(count);
        if (filled_ == bins()) transform(spectra);
    }
}

void StretchSpectra::finish(AlignedVector<Iq>& spectra) {
    for (int k = 0; k < 2; ++k) {
        std::fill(stretch_.begin() + static_cast<std::ptrdiff_t>(filled_), stretch_.end(), Iq{});
        transform(spectra);
    }
}

void StretchSpectra::transform(AlignedVector<Iq>& spectra) {
    const std::size_t before = spectra.size(), overlap = overlap_of(bins());
    spectra.resize(before + bins());
    const std::span<Iq> spectrum = std::span(spectra).subspan(before);
    fft_.forward(stretch_, spectrum);
    copy_samples(std::span(stretch_).last(overlap), stretch_);
    filled_ = overlap;
}

bool SpectrumBand::fits(const SpectrumBandConfig& config) {
    return 2 * filter_of(config).reach() <= overlap_of(config.bins);
}

SpectrumBand::SpectrumBand(const SpectrumBandConfig& config)
    : bins_(config.bins),
      decimation_(config.decimation),
      reach_(filter_of(config).reach()),
      middle_(std::lround(config.offset * static_cast<double>(config.bins))),
      inverse_(config.bins / config.decimation),
      band_(config.bins / config.decimation),
      samples_(config.bins / config.decimation) {
    if (!fits(config)) throw DspError("a band's filter is longer than the stretches overlap");
    turn_by(middle_, overlap_of(bins_));  // a stretch begins before its new samples
    const auto bins = static_cast<double>(bins_);
    const LowPass filter = filter_of(config);
    std::vector<Iq> taps(bins_);
    for (std::size_t n = 0; n <= 2 * reach_; ++n)
        taps[n] = static_cast<float>(filter(static_cast<double>(n) - static_cast<double>(reach_)) / bins);
    fft(taps);
    const auto wide = static_cast<std::ptrdiff_t>(std::ceil(std::min(config.stop, 0.5) * bins));
    for (std::ptrdiff_t k = -wide; k < wide; ++k)
        response_.push_back(
            taps[static_cast<std::size_t>(k + (k < 0 ? static_cast<std::ptrdiff_t>(bins_) : 0))]);
}

// Rotation of so many bins in so many samples.
void SpectrumBand::turn_by(std::ptrdiff_t bins, std::size_t samples) {
    const auto size = static_cast<std::ptrdiff_t>(bins_);
    next_turn_ = (next_turn_ + bins % size * static_cast<std::ptrdiff_t>(samples)) % size;
}

// The transforms of a stretch turn from its beginning on, and its samples come late by the filter's reach:
// that far before its first new one, the band's old place and its new one must agree.
void SpectrumBand::tune(double offset) {
    const double place = offset * static_cast<double>(bins_);
    if (std::abs(place - static_cast<double>(middle_)) <= kMostBeside) return;
    const std::ptrdiff_t middle = std::lround(place);
    turn_by(middle - middle_, overlap_of(bins_) - reach_);
    middle_ = middle;
}

double SpectrumBand::place_of(double frequency) const {
    return (frequency - static_cast<double>(middle_) / static_cast<double>(bins_)) *
           static_cast<double>(decimation_);
}

double SpectrumBand::turn_cycles() const {
    return static_cast<double>(turn_) / static_cast<double>(bins_);
}

// The products of bins and response, folded to as many bins as the band has. Runs end where either side
// begins again.
void SpectrumBand::gather(std::span<const Iq> spectrum) {
    std::fill(band_.begin(), band_.end(), Iq{});
    const auto wrapped = [](std::ptrdiff_t place, std::size_t size) {
        const auto limit = static_cast<std::ptrdiff_t>(size);
        return static_cast<std::size_t>(((place % limit) + limit) % limit);
    };
    const auto half = static_cast<std::ptrdiff_t>(response_.size() / 2);
    for (std::size_t n = 0; n < response_.size();) {
        const std::size_t from = wrapped(middle_ - half + static_cast<std::ptrdiff_t>(n), bins_);
        const std::size_t to = wrapped(static_cast<std::ptrdiff_t>(n) - half, band_.size());
        const std::size_t count = std::min({response_.size() - n, bins_ - from, band_.size() - to});
        add_products(spectrum.subspan(from, count), std::span(response_).subspan(n, count),
                     std::span(band_).subspan(to, count));
        n += count;
    }
}

std::span<const Iq> SpectrumBand::take(std::span<const Iq> spectrum) {
    gather(spectrum);
    inverse_.inverse(band_, samples_);
    turn_ = next_turn_;
    turn_by(-middle_, StretchSpectra::fresh(bins_));
    return std::span(samples_).subspan(overlap_of(bins_) / decimation_);
}

void SpectrumBand::process(std::span<const Iq> spectrum, std::vector<Iq>& out) {
    const std::span<const Iq> samples = take(spectrum);
    out.resize(out.size() + samples.size());
    rotate(samples, {turn_cycles(), 0, 1}, std::span(out).last(samples.size()));
}

}  // namespace tidemill::dsp
#endif
