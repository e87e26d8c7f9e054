#include "tidemill/dvbs2/front/symbol_timing.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <complex>
#include <iterator>
#include <utility>

#include "tidemill/dsp/complex_product.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2 {

namespace {

// The fit: 32768 symbols hold the timing of the weakest signal to 0.01 symbol.
constexpr std::size_t kFitSubblocks = 64;
constexpr std::size_t kLeastFitSubblocks = 8;  // at the end of a short stream
constexpr std::array<std::size_t, 3> kLiveFitSubblocks = {8, 16, 32};
constexpr double kSureEdge = 0.015;  // symbols: deviation of such a line at its ends
// Runs that may be a burst, looked for once in so many sub-blocks. Its line's ends may deviate by more.
constexpr std::array<std::size_t, 4> kBurstFitSubblocks = {32, 16, 8, 5};
constexpr std::int64_t kBurstEvery = 8;
constexpr double kBurstEdge = 0.04;
constexpr double kSupport = 0.5;  // share of them that must show the clock: few loud ones give no slope
constexpr std::int64_t kKeptSubblocks = kFitSubblocks + kMaxSubblocks;
constexpr double kLargestSlope = 0.08;          // symbols per sub-block: 156 ppm, of a clock that is sought
constexpr double kLargestFollowedSlope = 0.25;  // 488 ppm, to which one that is followed may drift

// Share of the symbol-rate line in the power: at least 0.37 for a signal at -2.35 dB Es/N0; a fit to n
// sub-blocks of noise stays below 1.05 / sqrt(n), one sub-block of noise below 0.1 on the long average.
constexpr double kLockShare = 0.2;
constexpr double kNoiseShare = 1.05;
constexpr double kLossShare = 0.1;
constexpr double kQualityGain = 1.0 / 64.0;
constexpr double kLargestBlockRise = 4.0;  // of one sub-block's power over the average

// Critically damped second-order loop with a noise bandwidth of 1/64 per sub-block.
constexpr double kTimingGain = 0.05;
constexpr double kSlopeGain = kTimingGain * kTimingGain / 4.0;
constexpr double kLoopMemory = 97;      // sub-blocks after which both gains of a growing line are below these
constexpr double kLargestError = 0.25;  // symbols
constexpr double kLagGain = 1.0 / 64;
constexpr double kHarmfulLag = 0.012;  // symbols
constexpr double kBendGain = kSlopeGain * kTimingGain / 8;
constexpr double kLargestBend = 1e-4;  // symbols per sub-block squared: 400 ppm/s at 1 MBd

// A leap of the clock: so many sub-blocks agree on it, with so much of the signal's strength and of their
// own, and it is so much likelier than none (natural logarithm; noise does as well once in 10^10).
constexpr std::size_t kLeapSubblocks = 4;
constexpr std::size_t kLookedBack = 8;
constexpr double kAgreed = 0.6;
constexpr double kFittedSubblocks = 32;
constexpr double kSureLeap = 25;
constexpr double kLeastLeap = 0.06;  // symbols: what the loop follows without harm

std::complex<double> turned_back(const SubblockTiming& timing, double tau) {
    return std::complex<double>(timing.phasor) * std::polar(1.0, -dsp::kTwoPi * tau);
}

template <class Run>
double middle_of(const Run& run) {
    return static_cast<double>(run.first->subblock) +
           (static_cast<double>(std::distance(run.first, run.behind)) - 1.0) / 2.0;
}

// At the ends of a line through n phasors, from how they scatter about it: their energies' sum, and the power
// of their sum along the line.
double edge_deviation(double energy, double power_of_sum, double n) {
    const double scatter = std::max(0.0, energy - power_of_sum / n) / (n - 2);
    const double deviation = std::sqrt(scatter / 2 / power_of_sum) * n / dsp::kTwoPi;
    return 2 * deviation / std::sqrt(n);
}

}  // namespace

KeptBlocks SymbolTimingLoop::step(const FilteredInfo& info) {
    KeptBlocks decision;
    if (info.restart) {
        if (!locked_ && try_lock_burst(0)) return release_before(info);
        decision.drop = static_cast<std::uint32_t>(kept_.size());
        kept_.clear();
        forget();
    }
    kept_.push_back(info);
    if (locked_) return {0, 1};
    lock_on(info);
    if (locked_) {
        decision.release = static_cast<std::uint32_t>(kept_.size());
        return decision;
    }
    const std::int64_t end = info.first_subblock + info.subblocks;
    while (kept_.front().first_subblock + kept_.front().subblocks < end - kKeptSubblocks) {
        kept_.pop_front();
        ++decision.drop;
    }
    return decision;
}

// The kept blocks are a burst that was over before it was long enough; with `info` another signal begins,
// whose clock is looked for when that has been given out.
KeptBlocks SymbolTimingLoop::release_before(const FilteredInfo& info) {
    const auto kept = static_cast<std::uint32_t>(kept_.size());
    locked_ = false;
    kept_.push_back(info);
    for (std::uint32_t s = 0; s < info.subblocks; ++s)
        measured_.push_back({info.first_subblock + s, info.timing[s]});
    return {0, kept};
}

KeptBlocks SymbolTimingLoop::finish() {
    const auto kept = static_cast<std::uint32_t>(kept_.size());
    if (!locked_ && (try_lock(measured_.size(), kLeastFitSubblocks) || try_lock_burst(0))) return {0, kept};
    kept_.clear();
    return {kept, 0};
}

void SymbolTimingLoop::forget() {
    locked_ = false;
    measured_.clear();
}

void SymbolTimingLoop::lock_on(const FilteredInfo& info) {
    for (std::uint32_t s = 0; s < info.subblocks && !locked_; ++s) {
        measured_.push_back({info.first_subblock + s, info.timing[s]});
        if (measured_.size() > kFitSubblocks) measured_.pop_front();
        if (live_ && try_lock_early()) return;
        if (try_lock(kFitSubblocks, kFitSubblocks)) return;
        const bool is_full = measured_.size() == kFitSubblocks;
        if (is_full && measured_.back().subblock % kBurstEvery == 0) try_lock_burst(kBurstEvery);
    }
}

bool SymbolTimingLoop::try_lock_early() {
    return std::ranges::any_of(kLiveFitSubblocks,
                               [&](std::size_t count) { return try_lock(count, count, true); });
}

// Sum of the phasors turned back by a line through zero at `middle`. It is asked for thousands of times a
// sub-block while no clock is found, so no sine is taken from one sub-block to the next.
std::complex<double> SymbolTimingLoop::sum_along(const Latest& latest, double middle, double slope) {
    const auto turn_at = [&](std::int64_t subblock) {
        return std::polar(1.0, -dsp::kTwoPi * slope * (static_cast<double>(subblock) - middle));
    };
    const std::complex<double> back = std::polar(1.0, -dsp::kTwoPi * slope);
    std::complex<double> turn{}, sum{};
    std::optional<std::int64_t> next;
    for (const Measured& m : latest) {
        turn = m.subblock == next ? dsp::product(turn, back) : turn_at(m.subblock);
        sum += dsp::product(turn, std::complex<double>(m.timing.phasor));
        next = m.subblock + 1;
    }
    return sum;
}

// Looks for the slope at which the phasors of some sub-blocks add up in one direction.
SymbolTimingLoop::LineFit SymbolTimingLoop::fit_line(const Latest& run) {
    LineFit fit{.n = static_cast<double>(std::distance(run.first, run.behind))};
    for (const Measured& m : run) {
        fit.power += static_cast<double>(m.timing.power);
        fit.energy += std::norm(std::complex<double>(m.timing.phasor));
    }
    const double middle = middle_of(run);
    const double step = 0.25 / fit.n;
    for (double slope = -kLargestSlope; slope <= kLargestSlope; slope += step) {
        const std::complex<double> sum = sum_along(run, middle, slope);
        if (std::norm(sum) > std::norm(fit.best)) fit.best = sum, fit.slope = slope;
    }
    return fit;
}

// With `edge` a line's ends may deviate by at most that many symbols.
bool SymbolTimingLoop::is_clock(const LineFit& fit, double least, std::optional<double> edge) {
    const double share = fit.power > 0.0 ? std::abs(fit.best) / fit.power : 0.0;
    if (share < std::max(kLockShare, kNoiseShare / std::sqrt(fit.n))) return false;
    // norm(best) / energy is n when all sub-blocks agree, and 1 when one is far louder than the rest.
    if (std::norm(fit.best) < kSupport * least * fit.energy) return false;
    return !edge || edge_deviation(fit.energy, std::norm(fit.best), fit.n) <= *edge;
}

// The latest sub-blocks.
bool SymbolTimingLoop::try_lock(std::size_t count, std::size_t least, bool surely) {
    if (measured_.size() < std::max(count, least)) return false;
    const Latest latest{measured_.end() - static_cast<std::ptrdiff_t>(count), measured_.end()};
    const LineFit fit = fit_line(latest);
    if (!is_clock(fit, static_cast<double>(least), surely ? std::optional(kSureEdge) : std::nullopt))
        return false;
    lock_to(latest, fit, surely ? fit.n : kLoopMemory);
    return true;
}

// A burst shorter than the fit, with noise around it: the longest of some runs that shows a clock, wherever
// it lies. One that has not ended may be a signal of which more will show its clock better.
bool SymbolTimingLoop::try_lock_burst(std::size_t ended) {
    for (const std::size_t count : kBurstFitSubblocks) {
        std::optional<Latest> clearest;
        LineFit most;
        for (std::size_t i = 0; i + count <= measured_.size(); ++i) {
            const auto first = measured_.cbegin() + static_cast<std::ptrdiff_t>(i);
            const Latest run{first, first + static_cast<std::ptrdiff_t>(count)};
            const LineFit fit = fit_line(run);
            if (std::norm(fit.best) > std::norm(most.best)) clearest = run, most = fit;
        }
        if (!clearest || !is_clock(most, most.n, kBurstEdge)) continue;
        if (std::distance(clearest->behind, measured_.cend()) < static_cast<std::ptrdiff_t>(ended))
            return false;
        lock_to(*clearest, most, most.n);
        return true;
    }
    return false;
}

void SymbolTimingLoop::lock_to(const Latest& run, const LineFit& fit, double known) {
    const double middle = middle_of(run);
    slope_ = fit.slope;
    tau_ = std::arg(fit.best) / dsp::kTwoPi;
    refine_line(run, middle);
    quality_signal_ = std::abs(fit.best) / fit.n;
    quality_power_ = fit.power / fit.n;
    scatter_ = std::max(0.0, fit.energy - std::norm(fit.best) / fit.n) / fit.n / 2;
    behind_.clear();
    lag_ = bend_ = 0;
    known_ = known;
    line_end_ = std::prev(run.behind)->subblock + 1;
    tau_ += slope_ * (static_cast<double>(kept_.front().first_subblock) - middle);
    measured_.clear();
    restart_ = true;
    locked_ = true;
}

// Newton steps towards the line tau + slope * (k - middle) along which the phasors add up highest.
void SymbolTimingLoop::refine_line(const Latest& latest, double middle) {
    for (int round = 0; round < 3; ++round) {
        double g0 = 0, g1 = 0, h00 = 0, h01 = 0, h11 = 0;
        for (const Measured& m : latest) {
            const double x = static_cast<double>(m.subblock) - middle;
            const auto z = turned_back(m.timing, tau_ + slope_ * x);
            g0 += z.imag();
            g1 += z.imag() * x;
            h00 += z.real();
            h01 += z.real() * x;
            h11 += z.real() * x * x;
        }
        const double det = h00 * h11 - h01 * h01;
        if (h00 <= 0.0 || det <= 0.0) return;
        tau_ += (h11 * g0 - h01 * g1) / det / dsp::kTwoPi;
        slope_ =
            std::clamp(slope_ + (h00 * g1 - h01 * g0) / det / dsp::kTwoPi, -kLargestSlope, kLargestSlope);
    }
}

void SymbolTimingLoop::follow(const SubblockTiming& timing) {
    // A burst of interference counts for little; a lasting change of level is followed all the same.
    const double power = static_cast<double>(timing.power);
    const double weight =
        power > kLargestBlockRise * quality_power_ ? kLargestBlockRise * quality_power_ / power : 1.0;
    const auto z = weight * turned_back(timing, tau_);
    const double strength = std::max(quality_signal_, kLossShare * quality_power_);
    if (strength > 0.0) {
        const double error = std::clamp(z.imag() / (dsp::kTwoPi * strength), -kLargestError, kLargestError);
        // A line that rests on few goes on to be fitted.
        known_ = std::min(known_ + 1, kLoopMemory);
        const double both = known_ * (known_ + 1);
        tau_ += std::max(kTimingGain, (4 * known_ - 2) / both) * error;
        bend(error);
        slope_ = std::clamp(slope_ + bend_ + std::max(kSlopeGain, 6 / both) * error, -kLargestFollowedSlope,
                            kLargestFollowedSlope);
    }
    quality_signal_ += kQualityGain * (z.real() - quality_signal_);
    scatter_ += kQualityGain * (z.imag() * z.imag() - scatter_);
    quality_power_ += kQualityGain * (weight * power - quality_power_);
    behind_.push_back(timing);
    if (behind_.size() > kLookedBack) behind_.pop_front();
}

// Behind a clock that drifts the loop lags by the drift over the slope's gain: a lag that lasts shows the
// drift, which is then predicted. A smaller one does no harm, and noise does not show it.
void SymbolTimingLoop::bend(double error) {
    lag_ += kLagGain * (error - lag_);
    if (known_ < kLoopMemory || std::abs(lag_) < kHarmfulLag) return;
    bend_ = std::clamp(bend_ + kBendGain * lag_, -kLargestBend, kLargestBend);
}

// Not while the line is being fitted.
bool SymbolTimingLoop::may_leap(const FilteredInfo& info) const {
    return info.first_subblock >= line_end_ && known_ >= kFittedSubblocks;
}

// The likeliest place behind which all sub-blocks agree on another clock than the line's: where samples are
// missing. What they agree on must be as strong as the signal, which noise that hides it is not.
std::optional<SymbolTimingLoop::Leap> SymbolTimingLoop::leap_in(std::span<const SubblockTiming> ahead) const {
    std::complex<double> turn =
        std::polar(1.0, -dsp::kTwoPi * (tau_ + slope_ * static_cast<double>(ahead.size())));
    const std::complex<double> back = std::polar(1.0, dsp::kTwoPi * slope_);
    std::complex<double> sum{}, best{};
    double energy = 0, gained = 0;
    std::size_t first = 0;
    const std::size_t count = behind_.size() + ahead.size();
    for (std::size_t n = 1; n <= count; ++n) {
        const std::size_t i = count - n;
        turn = dsp::product(turn, back);
        const std::complex<double> phasor(i < behind_.size() ? behind_[i].phasor
                                                             : ahead[i - behind_.size()].phasor);
        sum += dsp::product(turn, phasor);
        energy += std::norm(phasor);
        const double strength = std::sqrt(std::norm(sum));
        if (n < kLeapSubblocks || strength - sum.real() <= gained) continue;
        const auto all = static_cast<double>(n);
        if (strength < kAgreed * all * quality_signal_ || strength * strength < kAgreed * all * energy)
            continue;
        gained = strength - sum.real();
        best = sum;
        first = i;
    }
    const double symbols = std::arg(best) / dsp::kTwoPi;
    if (gained * quality_signal_ < kSureLeap * scatter_ || std::abs(symbols) < kLeastLeap)
        return std::nullopt;
    return Leap{first - std::min(first, behind_.size()), symbols};
}

void SymbolTimingLoop::leap_by(double symbols) {
    tau_ += symbols;
    emitted_tau_ += symbols;
    ahead_ += 2 * symbols;
    if (ahead_ < 0) ahead_ += 2;
    leaps_ = true;
    behind_.clear();
}

StrobePlan SymbolTimingLoop::next() {
    assert(!kept_.empty());
    const FilteredInfo info = kept_.front();
    kept_.pop_front();
    StrobePlan plan{.block = info.block,
                    .first_subblock = info.first_subblock,
                    .runs = info.subblocks,
                    .restart = restart_,
                    .frequency = info.frequency,
                    .turned_from = info.turned_from};
    const auto timing = std::span(info.timing).first(info.subblocks);
    const std::optional<Leap> leap = may_leap(info) ? leap_in(timing) : std::nullopt;
    for (std::uint32_t s = 0; s < info.subblocks; ++s) {
        if (leap && leap->from == s) leap_by(leap->symbols);
        if (info.first_subblock + s >= line_end_) follow(info.timing[s]);
        StrobeRun& run = plan.run[s] = place_strobes();
        run.first += 2.0 * (kPairsBefore + s * kSubblockSymbols) - kStrobeLead;
        tau_ += slope_;
    }
    if (locked_ && quality_signal_ < kLossShare * quality_power_) forget();
    return plan;
}

// Leads the sampling_instants from where they are to the tracked timing at the sub-block's end, so that they
// never jump and no symbol is lost or doubled.
StrobeRun SymbolTimingLoop::place_strobes() {
    constexpr double kSymbols = kSubblockSymbols;
    if (restart_) {
        emitted_tau_ = tau_ - slope_ / 2.0;
        ahead_ = 2.0 * (emitted_tau_ - std::floor(emitted_tau_));
        restart_ = false;
        leaps_ = true;
    }
    const double change = (tau_ + slope_ / 2.0 - emitted_tau_) / kSymbols;
    StrobeRun run{.first = ahead_, .step = 2.0 * (1.0 + change), .leaps = std::exchange(leaps_, false)};
    run.count = static_cast<std::uint32_t>(std::ceil((2.0 * kSymbols - ahead_) / run.step));
    ahead_ += run.count * run.step - 2.0 * kSymbols;
    emitted_tau_ += run.count * change;
    return run;
}

}  // namespace tidemill::dvbs2
