#include "tidemill/dvbs2/front/tone_canceller.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tidemill/dsp/iq_balance.hpp"
#include "tidemill/dsp/rotator.hpp"
#include "tidemill/dvbs2/front/tone_watch.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr std::size_t kPieceSamples = 4096;
constexpr std::size_t kGroupSamples = 64;

// In cycles per sample: how far from where it was seen a tone may be.
constexpr double kToneReach = 2.5 / kToneBins;
constexpr double kStepsPerCycle = 4;  // in a piece

// Share of a tone that the sum over a group keeps.
double kept_by_groups(double frequency) {
    const double x = std::numbers::pi * frequency * kGroupSamples;
    return std::abs(x) < 1e-6 ? 1 : std::sin(x) / x;
}

// As if the level had been one all the time, or as it was.
void undo_steps(std::span<Iq> window, const LevelStepList& steps, bool back) {
    for (const AgcStep& step : steps.all()) {
        const auto factor = static_cast<float>(back ? step.ratio : 1 / step.ratio);
        for (Iq& x : window.subspan(std::min(window.size(), static_cast<std::size_t>(step.place))))
            x *= factor;
    }
}

}  // namespace

ToneCanceller::ToneCanceller(std::size_t longest_window)
    : turned_(std::min(longest_window, kPieceSamples)), ones_(turned_.size(), Iq(1)) {}

void ToneCanceller::cancel(std::span<Iq> window, const ToneList& tones, const LevelStepList& steps) {
    if (tones.count == 0 || window.empty()) return;
    undo_steps(window, steps, false);
    const std::size_t pieces = (window.size() + turned_.size() - 1) / turned_.size();
    for (std::size_t i = 0; i < pieces; ++i) {
        const std::size_t begin = window.size() * i / pieces, end = window.size() * (i + 1) / pieces;
        for (const double frequency : tones.all()) cancel_in(window.subspan(begin, end - begin), frequency);
    }
    undo_steps(window, steps, true);
}

void ToneCanceller::cancel_in(std::span<Iq> piece, double near) {
    sum_groups(piece, near);
    double count = 0;
    for (const Group& group : groups_) count += group.count;
    if (count == 0) return;
    const double off = best_frequency(static_cast<double>(piece.size()));
    subtract(piece, sum_at(off) / (count * kept_by_groups(off)), near + off);
}

void ToneCanceller::sum_groups(std::span<const Iq> piece, double near) {
    const auto turned = std::span(turned_).first(piece.size());
    const double middle = static_cast<double>(piece.size()) / 2;
    dsp::rotate(piece, {.phase_cycles = near * middle, .frequency = -near}, turned);
    groups_.clear();
    for (std::size_t n = 0; n < piece.size(); n += kGroupSamples) {
        const std::size_t count = std::min(kGroupSamples, piece.size() - n);
        const dsp::IqMoments moments = dsp::iq_moments(turned.subspan(n, count));
        const auto weight = static_cast<double>(moments.power > 0 ? count : 0);
        groups_.push_back(
            {moments.sum, static_cast<double>(n) + static_cast<double>(count - 1) / 2 - middle, weight});
    }
}

std::complex<double> ToneCanceller::sum_at(double frequency) const {
    const auto turn_by = [&](double samples) { return std::polar(1.0, -dsp::kTwoPi * frequency * samples); };
    std::complex<double> turn = turn_by(groups_.front().middle);
    std::complex<double> sum = groups_.back().sum * turn_by(groups_.back().middle);  // which may be shorter
    const std::complex<double> step = turn_by(kGroupSamples);
    for (const Group& group : std::span(groups_).first(groups_.size() - 1))
        sum += group.sum * turn, turn *= step;
    return sum;
}

// Where most of the power is.
double ToneCanceller::best_frequency(double samples) const {
    double step = 1 / (kStepsPerCycle * samples), best = 0, most = -1;
    for (double frequency = -kToneReach; frequency <= kToneReach; frequency += step)
        if (const double power = std::norm(sum_at(frequency)); power > most) best = frequency, most = power;
    for (int round = 0; round < 3; ++round, step /= 4) {
        const double left = std::norm(sum_at(best - step)), right = std::norm(sum_at(best + step));
        const double curvature = left - 2 * std::norm(sum_at(best)) + right;
        if (curvature < 0) best += std::clamp(0.5 * (left - right) / curvature, -1.0, 1.0) * step;
    }
    return best;
}

void ToneCanceller::subtract(std::span<Iq> piece, std::complex<double> amplitude, double frequency) {
    const auto tone = std::span(turned_).first(piece.size());
    const double middle = static_cast<double>(piece.size()) / 2;
    const dsp::Oscillator oscillator{.phase_cycles = std::arg(amplitude) / dsp::kTwoPi - frequency * middle,
                                     .frequency = frequency,
                                     .gain = std::abs(amplitude)};
    dsp::rotate(std::span(ones_).first(piece.size()), oscillator, tone);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (groups_[g].count == 0) continue;
        const std::size_t end = std::min(piece.size(), (g + 1) * kGroupSamples);
        for (std::size_t n = g * kGroupSamples; n < end; ++n) piece[n] -= tone[n];
    }
}

}  // namespace tidemill::dvbs2
