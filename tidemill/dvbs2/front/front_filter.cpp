#include "tidemill/dvbs2/front/front_filter.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <utility>

#include "tidemill/dsp/half_symbol_moments.hpp"
#include "tidemill/dsp/power_peaks.hpp"
#include "tidemill/dsp/pulse.hpp"
#include "tidemill/dsp/rotator.hpp"
#include "tidemill/dsp/short_rotator.hpp"
#include "tidemill/dsp/split_fir.hpp"
#include "tidemill/dsp/split_fir16.hpp"

namespace tidemill::dvbs2 {

namespace {

// Positions are rounded to 1/512 symbol, which costs less than -50 dB.
constexpr double kPhasesPerSymbol = 512.0;

// Samples behind the window that whole-vector reads may touch.
constexpr std::size_t kPadding = 64;

// Value of 1 in samples of 16 bits. The signal's power is 1: rounding stays 70 dB below it, and there is room
// for what is 30 dB stronger.
constexpr double kShortUnit = 1024.0;

// Value of 1.0.
template <class Sample>
constexpr double kFullScale = std::is_same_v<Sample, dsp::Ci8> ? 128 : 1;

[[maybe_unused]] double most_of(std::span<const Iq> samples) {
    return std::numbers::sqrt2 * std::sqrt(static_cast<double>(dsp::power_peaks(samples).part));
}
[[maybe_unused]] double most_of(std::span<const dsp::Ci8> /*samples*/) {
    return std::numbers::sqrt2 * kFullScale<dsp::Ci8>;
}

// Value of 1 in pairs of samples, so that none becomes larger than 16 bits hold; the oscillator rounds, too.
template <class Sample>
double unit_of(std::span<const Sample> samples, const BlockOscillator& oscillator, std::int64_t history) {
    constexpr double kMost = 32700;
    double gain =
        std::max({oscillator.gain, oscillator.gain_at(0, history), oscillator.gain_at(history, history)});
    for (const AgcStep& step : oscillator.steps.all())
        gain = std::max(gain, oscillator.gain_at(step.place, history));
    const double most = gain * most_of(samples) / kFullScale<Sample>;
    return most > 1e-30 && std::isfinite(most) ? most / kMost : 1;
}

// Integral of S(f + 1/2) S(f - 1/2) cos(2 pi f lag): the symbol-rate line that the overlapping band edges
// of the raised-cosine spectrum S leave in x*(t) x(t + lag).
double band_edge_moment(double rolloff, double lag) {
    constexpr int kSteps = 2000;
    double sum = 0.0;
    for (int i = 0; i < kSteps; ++i) {
        const double f = rolloff / 2.0 * ((2.0 * i + 1.0) / kSteps - 1.0);
        sum += dsp::raised_cosine_spectrum(f + 0.5, rolloff) * dsp::raised_cosine_spectrum(f - 0.5, rolloff) *
               std::cos(2.0 * std::numbers::pi * f * lag);
    }
    return sum * rolloff / kSteps;
}

// Calls turn(samples, oscillator, offset) for the parts of the window from sample `begin` on in which
// frequency and gain are one: the history, and the block itself, each cut where the level steps.
template <class Sample, class Turn>
void turn_window(std::span<const Sample> samples, std::size_t begin, std::size_t history,
                 const BlockOscillator& o, Turn turn) {
    const auto turn_part = [&](std::size_t from, std::size_t to) {
        const double frequency = from < history ? o.previous_frequency : o.frequency;
        const double ahead = static_cast<double>(from) - static_cast<double>(history);
        const double gain = o.gain_at(static_cast<std::int64_t>(from), static_cast<std::int64_t>(history)) /
                            kFullScale<Sample>;
        turn(samples.subspan(from, to - from),
             dsp::Oscillator{o.phase_cycles + frequency * ahead, frequency, gain}, from);
    };
    const auto turn_until = [&](std::size_t end) {
        for (const AgcStep& step : o.steps.all()) {
            const auto place = static_cast<std::size_t>(step.place);
            if (place <= begin || place >= end) continue;
            turn_part(std::exchange(begin, place), place);
        }
        if (begin < end) turn_part(std::exchange(begin, end), end);
    };
    turn_until(history);
    turn_until(samples.size());
}

}  // namespace

FrontFilter::FrontFilter(const FrontGeometry& geometry)
    : geometry_(geometry),
      power_moment_(band_edge_moment(geometry.rolloff(), 0.0)),
      product_moment_(band_edge_moment(geometry.rolloff(), 0.5)) {
    const double sps = geometry.samples_per_symbol();
    const std::size_t taps = geometry.filter_taps();
    const auto response = [&](double samples) {
        return dsp::root_raised_cosine(samples / sps, geometry.rolloff()) / sps;
    };
    const std::size_t window = geometry.history_samples() + geometry.block_samples() + kPadding;
    if (sps == 2.0) {
        for (std::size_t k = 0; k < taps; ++k) {
            taps_.push_back(static_cast<float>(response(static_cast<double>(k) - (taps / 2.0 - 1.0))));
        }
        if (dsp::kSplitFir16IsFaster) {
            // The first one falls on an odd sample.
            taps_.insert(taps_.begin(), 0.0F);
            turned_pairs_.resize(2 * window);
        } else {
            turned_.resize(window / 2);
            turned_odd_.resize(window / 2);
        }
    } else {
        bank_.emplace(taps, static_cast<std::size_t>(std::ceil(kPhasesPerSymbol / sps)), sps / 2, response);
        turned_re_.resize(window);
        turned_im_.resize(window);
    }
}

template <class Sample>
void FrontFilter::filter(std::span<const Sample> samples, std::uint32_t valid,
                         const BlockOscillator& oscillator, FilteredBlock& out) {
    assert(samples.size() == geometry_.history_samples() + geometry_.block_samples());
    FilteredInfo& info = out.info;
    info.block = oscillator.block;
    info.restart = oscillator.restart;
    info.frequency = -oscillator.frequency * geometry_.samples_per_symbol();
    info.first_subblock = geometry_.subblocks_before(info.block);
    info.subblocks = geometry_.subblocks_of(info.block, valid);
    assert(info.subblocks <= kMaxSubblocks);
    const double begin = static_cast<double>(info.block) * geometry_.block_samples();
    info.turned_from =
        begin / geometry_.samples_per_symbol() - static_cast<double>(info.first_subblock) * kSubblockSymbols;

    const std::int64_t first = info.first_subblock * 2 * kSubblockSymbols - 2 * kPairsBefore;
    const std::size_t pairs = kPairsBefore + info.subblocks * kSubblockSymbols;
    if (bank_) {
        filter_at_any(samples, oscillator, first, pairs, out);
    } else {
        filter_at_two(samples, oscillator, first, pairs, out);
    }
    std::fill_n(out.even.begin() + static_cast<std::ptrdiff_t>(pairs), kPairsBehind, Iq{});
    std::fill_n(out.odd.begin() + static_cast<std::ptrdiff_t>(pairs), kPairsBehind, Iq{});
    for (std::uint32_t s = 0; s < info.subblocks; ++s) info.timing[s] = measure(out, s);
}
template void FrontFilter::filter(std::span<const Iq>, std::uint32_t, const BlockOscillator&, FilteredBlock&);
template void FrontFilter::filter(std::span<const dsp::Ci8>, std::uint32_t, const BlockOscillator&,
                                  FilteredBlock&);

// Share of a symbol near a run of zeroed samples below which it would mislead; beyond that it says more than
// nothing.
void FrontFilter::mark_erased(std::span<const PulseBlanker::Run> runs, FilteredBlock& block) const {
    constexpr double kBesideSymbols = 1;
    block.erased.count = 0;
    const double window =
        static_cast<double>(block.info.block) * geometry_.block_samples() - geometry_.history_samples();
    const double first =
        static_cast<double>(block.info.first_subblock) * 2 * kSubblockSymbols - 2 * kPairsBefore;
    const auto place_of = [&](std::size_t sample, double beside) {
        return (window + static_cast<double>(sample)) * 2 / geometry_.samples_per_symbol() - first +
               2 * beside;
    };
    for (const PulseBlanker::Run& run : runs) {
        const double end = place_of(run.end - 1, kBesideSymbols);
        if (end >= 0)
            block.erased.add(
                {static_cast<float>(place_of(run.begin, -kBesideSymbols)), static_cast<float>(end)});
    }
}

template <class Sample>
void FrontFilter::filter_at_two(std::span<const Sample> samples, const BlockOscillator& oscillator,
                                std::int64_t first, std::size_t pairs, FilteredBlock& out) {
    const std::uint32_t history = geometry_.history_samples();
    const std::int64_t window = oscillator.block * geometry_.block_samples() - history;
    const std::int64_t start = first - (geometry_.filter_taps() / 2 - 1) - window;
    assert(start >= 0 && start % 2 == 1);
    const auto pair = static_cast<std::size_t>(start / 2);
    const auto even_out = std::span(out.even).first(pairs), odd_out = std::span(out.odd).first(pairs);
    if constexpr (dsp::kSplitFir16IsFaster) {
        const double unit = unit_of(samples, oscillator, history);
        turn_window(samples, 2 * pair, history, oscillator,
                    [&](std::span<const Sample> part, dsp::Oscillator o, std::size_t offset) {
                        o.gain /= unit;
                        dsp::rotate_to_pairs(part, o,
                                             std::span(turned_pairs_).subspan(2 * offset, 2 * part.size()));
                    });
        dsp::split_fir16({std::span(turned_pairs_).subspan(4 * pair), static_cast<float>(unit)}, taps_,
                         even_out, odd_out);
    } else {
        turn_window(samples, 2 * pair, history, oscillator,
                    [&](std::span<const Sample> part, const dsp::Oscillator& o, std::size_t offset) {
                        dsp::rotate_split(part, o, std::span(turned_).subspan(offset / 2, part.size() / 2),
                                          std::span(turned_odd_).subspan(offset / 2, part.size() / 2));
                    });
        // The first tap falls on an odd sample, so the halves of the stream change places.
        dsp::split_fir({std::span(turned_odd_).subspan(pair), std::span(turned_).subspan(pair + 1)}, taps_,
                       even_out, odd_out);
    }
}

template <class Sample>
void FrontFilter::filter_at_any(std::span<const Sample> samples, const BlockOscillator& oscillator,
                                std::int64_t first, std::size_t pairs, FilteredBlock& out) {
    turn_window(samples, 0, geometry_.history_samples(), oscillator,
                [&](std::span<const Sample> part, dsp::Oscillator o, std::size_t offset) {
                    o.gain *= kShortUnit;
                    dsp::rotate_to_planes(part, o, std::span(turned_re_).subspan(offset, part.size()),
                                          std::span(turned_im_).subspan(offset, part.size()));
                });
    const std::int64_t window = oscillator.block * geometry_.block_samples() - geometry_.history_samples();
    const double sps = geometry_.samples_per_symbol();
    const double lead = geometry_.filter_taps() / 2.0 - 1.0;
    const double start = static_cast<double>(first) * (sps / 2.0) - static_cast<double>(window) - lead;
    bank_->evaluate({turned_re_, turned_im_}, start, sps, static_cast<float>(1 / kShortUnit),
                    std::span(out.even).first(pairs), std::span(out.odd).first(pairs));
}

// The two-sample timing estimator (Lee, IEEE Comm. Letters 6(5), 2002) with both of its components scaled to
// the same strength, which takes away its bias.
SubblockTiming FrontFilter::measure(const FilteredBlock& block, std::size_t subblock) const {
    const std::size_t before = kPairsBefore + subblock * kSubblockSymbols - 1;
    const auto m = dsp::half_symbol_moments({std::span(block.even).subspan(before, kSubblockSymbols + 1),
                                             std::span(block.odd).subspan(before, kSubblockSymbols + 1)});
    constexpr double kScale = 4.0 * kSubblockSymbols;
    const double cosine = (m.even_power - m.odd_power) / (kScale * power_moment_);
    const double sine = (m.rising - m.falling) / (kScale * product_moment_);
    return {Iq(static_cast<float>(cosine), static_cast<float>(sine)),
            (m.even_power + m.odd_power) / (2.0F * kSubblockSymbols)};
}

}  // namespace tidemill::dvbs2
