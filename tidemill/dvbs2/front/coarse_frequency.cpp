#include "tidemill/dvbs2/front/coarse_frequency.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace tidemill::dvbs2 {

namespace {

// All frequencies are in cycles per symbol.
constexpr double kSearchRange = 0.51;
constexpr double kFollowRange = 0.02;

constexpr double kWindowSymbols = 16384;
constexpr double kLeastSymbols = 16384;
constexpr double kMostSymbols = 98304;
constexpr double kWantedDeviation = 0.0012;
// A live reception begins with this, which costs the densest constellation 0.01 dB.
constexpr double kLiveLeastSymbols = 2048;
constexpr double kLiveDeviation = 0.004;

// After the signal is found the oscillator holds still, because every change of it is phase noise to the
// stages behind; it only moves, slowly, when the average over kMemorySymbols has left kTolerance.
constexpr double kMemorySymbols = 262144;
constexpr double kTolerance = 0.003;
constexpr double kSettled = 0.0005;
// Drift that the carrier tracking behind can follow unharmed, per symbol; an error of kUrgent does more harm
// itself, unless noise hides it, and the estimate's own noise is no reason to hurry.
constexpr double kCalmDrift = 1.5e-9;
constexpr double kUrgent = 0.012;
constexpr double kDoubtfulSigmas = 1.5;
constexpr double kCertainSigmas = 3;
// A carrier that drifts is seen to have left in a shorter average, and followed at once: the stages behind
// learn how the oscillator turned.
constexpr double kHurryMemorySymbols = 32768;
constexpr double kHurryTolerance = 0.005;
constexpr double kHurrySettled = 0.002;
constexpr double kHurrySigmas = 4;
constexpr double kLargestDrift = 3e-7;  // cycles per symbol squared
// A carrier that has jumped is looked for anew, which loses less than to drag the oscillator after it.
constexpr double kJump = 0.012;
constexpr double kCarrierJumpSigmas = 6;
constexpr double kLargestRise = 4.0;  // of one chunk's power over the average
// Samples so far below those of so many later chunks in a row were not the signal: silence with a filter's
// answer, or noise of a converter.
constexpr double kAnotherSignal = 30;
constexpr std::uint32_t kLastingChunks = 4;

// The gain moves by so much per block at the most, and only when the level is off by more than half a dB.
constexpr double kGainTolerance = 1.06;
constexpr double kGainStep = 1.01;
constexpr std::int64_t kSameStepSamples = 64;  // two windows may see one so far apart

}  // namespace

CoarseFrequencyEstimator::CoarseFrequencyEstimator(const FrontGeometry& geometry)
    : geometry_(geometry),
      fit_(geometry),
      iq_(geometry.samples_per_symbol()),
      window_chunks_(static_cast<std::size_t>(std::ceil(kWindowSymbols / fit_.chunk_symbols()))),
      followed_window_chunks_((window_chunks_ + kFollowedChunks - 1) / kFollowedChunks) {}

double CoarseFrequencyEstimator::symbols_needed(double share) const {
    const double deviation = geometry_.live() ? kLiveDeviation : kWantedDeviation;
    const double least = geometry_.live() ? kLiveLeastSymbols : kLeastSymbols;
    return std::clamp(fit_.symbols_for(deviation, share), least, kMostSymbols);
}

KeptBlocks CoarseFrequencyEstimator::step(const BlockSpectrum& spectrum) {
    const bool was_following = found();
    assert(was_following || spectrum.every == 1);
    iq_.add(spectrum);
    learn_steps(spectrum);
    const std::int64_t chunks = std::max<std::uint32_t>(geometry_.chunks(), 1);
    const std::int64_t first_chunk = spectrum.block * chunks;
    bool was_found = was_following;
    for (std::uint32_t c = 0; c < chunks && (found() || !was_found); ++c) {
        if ((first_chunk + c) % spectrum.every == 0) take(first_chunk + c, spectrum.chunk[c]);
        was_found |= found();
    }
    next_block_ = spectrum.block + 1;
    if (was_following) {  // a loss noticed in this block takes effect with the next
        slew();
        oldest_kept_ = next_block_;
        return {0, 1};
    }
    // A burst may have ended in the block in which it was found.
    if (was_found) return release_all();
    const std::int64_t keep_from = std::max(oldest_kept_, window_begin_ / chunks - 1);
    const auto drop = static_cast<std::uint32_t>(keep_from - oldest_kept_);
    oldest_kept_ = keep_from;
    return {drop, 0};
}

void CoarseFrequencyEstimator::begin_anew() {
    forget();
    iq_ = IqTracker(geometry_.samples_per_symbol());
    steps_.clear();
}

// The remembered spectra get the level of now. A step is seen by two windows where it lies between them, or
// only by the second: then it counts from that one's block on.
void CoarseFrequencyEstimator::learn_steps(const BlockSpectrum& spectrum) {
    const std::int64_t block = spectrum.block * geometry_.block_samples();
    const std::int64_t window = block - geometry_.history_samples();
    while (!steps_.empty() && steps_.front().place < (oldest_kept_ - 1) * geometry_.block_samples())
        steps_.pop_front();
    for (const AgcStep& step : spectrum.steps.all()) {
        const std::int64_t place = window + step.place;
        if (!steps_.empty() && place < steps_.back().place + kSameStepSamples) continue;
        steps_.push_back({std::max(place, block), step.ratio});
        gain_ /= step.ratio;
        const double power = step.ratio * step.ratio;
        loudest_ *= std::min(power, 1.0);  // how loud it has become is seen soon
        sum_.scale_power(power);
        lately_.scale_power(power);
        window_sum_.scale_power(power);
        for (dsp::LagCorrelation& chunk : window_) SpectrumSum::scale_power(power, chunk);
    }
}

// Now over that at a sample, as an amplitude.
double CoarseFrequencyEstimator::level_since(std::int64_t sample) const {
    double ratio = 1;
    for (const AgcStep& step : steps_) ratio *= step.place >= sample ? step.ratio : 1.0;
    return ratio;
}

KeptBlocks CoarseFrequencyEstimator::finish() {
    const auto kept = static_cast<std::uint32_t>(next_block_ - oldest_kept_);
    if (state_ == State::estimating) estimate();
    if (state_ == State::following) return release_all();
    oldest_kept_ = next_block_;
    return {kept, 0};
}

KeptBlocks CoarseFrequencyEstimator::release_all() {
    const auto kept = static_cast<std::uint32_t>(next_block_ - oldest_kept_);
    started_ = false;
    last_.block = oldest_kept_ - 1;
    oldest_kept_ = next_block_;
    return {0, kept};
}

// Once a signal is there, a burst of interference counts for little; a lasting change of level is followed
// all the same.
dsp::LagCorrelation CoarseFrequencyEstimator::without_burst(const dsp::LagCorrelation& chunk) const {
    const double limit = kLargestRise * window_sum_.lags.power / std::max(window_sum_.chunks, 1.0);
    if (window_sum_.chunks == 0.0 || chunk.power <= limit) return chunk;
    SpectrumSum limited;
    limited.add(chunk);
    limited.scale(limit / chunk.power);
    return limited.lags;
}

bool CoarseFrequencyEstimator::has_risen(const dsp::LagCorrelation& received) {
    if (risen_chunks_ == 0) level_before_ = window_sum_.lags.power / std::max(window_sum_.chunks, 1.0);
    const bool is_above = window_sum_.chunks > 0 && received.power > kAnotherSignal * level_before_;
    risen_chunks_ = is_above ? risen_chunks_ + 1 : 0;
    return risen_chunks_ == kLastingChunks;
}

void CoarseFrequencyEstimator::take(std::int64_t number, const dsp::LagCorrelation& received) {
    if (has_risen(received)) forget();
    if (window_.empty()) window_begin_ = number;
    window_.push_back(state_ == State::searching ? received : without_burst(received));
    const dsp::LagCorrelation& chunk = window_.back();
    const std::size_t limit = found() ? followed_window_chunks_ : window_chunks_;
    if (window_.size() > limit && state_ != State::estimating) {
        const std::size_t surplus = window_.size() - limit;
        window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(surplus));
        window_begin_ += static_cast<std::int64_t>(surplus);
        // Added up anew: what a running difference leaves of one huge chunk would bury all later ones.
        window_sum_ = {};
        for (const auto& one : window_) window_sum_.add(one);
    } else {
        window_sum_.add(chunk);
    }
    if (state_ == State::searching) return search();
    if (state_ == State::following) return follow(chunk);
    share_ = fit_.best(window_sum_, -kSearchRange, kSearchRange).share;
    // While chunks are far above those before, they may be another signal's beginning.
    const bool is_enough =
        risen_chunks_ == 0 && window_sum_.chunks * fit_.chunk_symbols() >= symbols_needed(share_);
    if (is_enough || has_ended()) estimate();
}

// Whether the latest chunks show the signal no more: what was heard of it must do, and what follows a gap is
// another one's. A wait for more ends here, because silence shows no signal either.
bool CoarseFrequencyEstimator::has_ended() const {
    SpectrumSum latest;
    for (std::size_t i = window_.size() - std::min(window_.size(), window_chunks_); i < window_.size(); ++i) {
        latest.add(window_[i]);
    }
    const double least = 0.5 * fit_.threshold(static_cast<double>(window_chunks_));
    return fit_.best(latest, -kSearchRange, kSearchRange).share < least;
}

void CoarseFrequencyEstimator::search() {
    share_ = fit_.best(window_sum_, -kSearchRange, kSearchRange).share;
    if (window_sum_.chunks > 0.0 && share_ > fit_.threshold(window_sum_.chunks)) state_ = State::estimating;
}

void CoarseFrequencyEstimator::estimate() {
    const SpectrumFit::Best found = fit_.best(window_sum_, -kSearchRange, kSearchRange);
    if (found.share < 0.5 * fit_.threshold(window_sum_.chunks)) return forget();
    sum_ = lately_ = window_sum_;
    hurries_ = false;
    frequency_ = found.frequency;
    share_ = found.share;
    gain_ = signal_gain(share_);
    loudest_ = 1 / (gain_ * gain_);
    state_ = State::following;
}

void CoarseFrequencyEstimator::follow(const dsp::LagCorrelation& chunk) {
    const double age = kFollowedChunks * fit_.chunk_symbols();
    sum_.scale(1.0 - age / (hurries_ ? kHurryMemorySymbols : kMemorySymbols));
    sum_.add(chunk);
    lately_.scale(1.0 - age / kHurryMemorySymbols);
    lately_.add(chunk);
    share_ = fit_.share_at(window_sum_, frequency_);
    loudest_ = std::max(loudest_ * (1.0 - age / kMemorySymbols), share_ * usual_power());
    const auto most = static_cast<double>(followed_window_chunks_);
    if (window_.size() >= followed_window_chunks_ && share_ < 0.5 * fit_.threshold(most)) forget();
}

void CoarseFrequencyEstimator::forget() {
    state_ = State::searching;
    window_.clear();
    window_sum_ = {};
    risen_chunks_ = 0;
}

// Whether the window's chunks lie elsewhere than all that are remembered, which no drift brings about.
bool CoarseFrequencyEstimator::has_jumped(double error) const {
    if (window_.size() < followed_window_chunks_) return false;
    const double least = std::max(kJump, kCarrierJumpSigmas * fit_.deviation(window_sum_, share_));
    const double latest = error_of(window_sum_);
    return std::abs(latest - error) > least && std::abs(latest - error_of(lately_)) > least;
}

// A parabola through three places gives it if it is near them; where it is not, the whole range is looked at.
double CoarseFrequencyEstimator::error_of(const SpectrumSum& sum) const {
    const double left = fit_.match(sum, frequency_ - kJump);
    const double right = fit_.match(sum, frequency_ + kJump);
    const double curvature = left - 2 * fit_.match(sum, frequency_) + right;
    if (curvature < 0) {
        const double near = 0.5 * (left - right) / curvature * kJump;
        if (std::abs(near) < 2 * kJump) return near;
    }
    return fit_.best(sum, -kSearchRange, kSearchRange).frequency - frequency_;
}

void CoarseFrequencyEstimator::move_by(double error, double most_per_symbol) {
    const double symbols = geometry_.block_samples() / geometry_.samples_per_symbol();
    frequency_ += std::clamp(error, -most_per_symbol * symbols, most_per_symbol * symbols);
}

// After a carrier that drifts; whether there is need to.
bool CoarseFrequencyEstimator::hurry() {
    const double error = error_of(lately_);
    const double least = std::max(kHurryTolerance, kHurrySigmas * fit_.deviation(lately_, share_));
    const bool hurried = hurries_;
    hurries_ = std::abs(error) > (hurries_ ? kHurrySettled : least);
    if (!hurries_) return false;
    if (!hurried) sum_ = lately_;
    const double symbols = geometry_.block_samples() / geometry_.samples_per_symbol();
    move_by(error * symbols / kHurryMemorySymbols, kLargestDrift);
    return true;
}

void CoarseFrequencyEstimator::slew() {
    if (state_ != State::following) return;
    const SpectrumFit::Best now = fit_.best(sum_, frequency_ - kFollowRange, frequency_ + kFollowRange);
    if (now.share <= 0.0) return;
    const double off = signal_gain(now.share) / gain_;
    if (off > kGainTolerance || off < 1.0 / kGainTolerance)
        gain_ *= std::clamp(off, 1.0 / kGainStep, kGainStep);
    const double error = now.frequency - frequency_;
    if (has_jumped(error)) return forget();
    if (hurry()) return;
    const double deviation = fit_.deviation(sum_, now.share);
    slewing_ = std::abs(error) > (slewing_ ? kSettled : std::max(kTolerance, kDoubtfulSigmas * deviation));
    if (!slewing_) return;
    const double symbols = geometry_.block_samples() / geometry_.samples_per_symbol();
    const double urgency = std::max(0.0, std::abs(error) - std::max(kUrgent, kCertainSigmas * deviation));
    move_by(error * symbols / kMemorySymbols, kCalmDrift + urgency / kMemorySymbols);
}

// Usual power of a sample: one of the window's chunks may have been hit.
double CoarseFrequencyEstimator::usual_power() const {
    std::vector<double> powers;
    for (const dsp::LagCorrelation& chunk : window_)
        if (std::isfinite(chunk.power)) powers.push_back(chunk.power / kChunkSamples);
    if (powers.empty()) return 0;
    const auto middle = powers.begin() + static_cast<std::ptrdiff_t>((powers.size() - 1) / 2);
    std::ranges::nth_element(powers, middle);
    return *middle;
}

double CoarseFrequencyEstimator::signal_gain(double share) const {
    return std::sqrt(sum_.chunks * kChunkSamples / (share * sum_.lags.power));
}

BlockOscillator CoarseFrequencyEstimator::next() {
    const std::int64_t number = last_.block + 1, begin = number * geometry_.block_samples();
    BlockOscillator now{.block = number,
                        .frequency = -frequency_ / geometry_.samples_per_symbol(),
                        .gain = gain_ * level_since(begin + geometry_.block_samples())};
    const double samples = geometry_.block_samples();
    const std::int64_t window = begin - geometry_.history_samples();
    for (const AgcStep& step : steps_) {
        if (step.place >= window && step.place < begin + geometry_.block_samples())
            now.steps.add({step.place - window, step.ratio});
    }
    const double cycles = started_ ? last_.phase_cycles + last_.frequency * samples
                                   : now.frequency * samples * static_cast<double>(now.block);
    now.phase_cycles = cycles - std::floor(cycles);
    now.previous_frequency = started_ ? last_.frequency : now.frequency;
    const double risen = level_since(begin) / level_since(begin + geometry_.block_samples());
    now.previous_gain = started_ ? last_.gain / risen : now.gain;
    now.iq = iq_.correction();
    now.loudest = steps_.empty() ? loudest_ : 0;
    now.restart = !started_;
    started_ = true;
    last_ = now;
    return now;
}

}  // namespace tidemill::dvbs2
