#include "tidemill/dvbs2/front/iq_tracker.hpp"

#include <algorithm>
#include <cmath>

namespace tidemill::dvbs2 {

namespace {

constexpr double kBalanceMemorySymbols = 131072;

// A modulated signal's own mean has a variance of its power over its symbols, and so have the samples'
// squares.
constexpr double kChance = 20;     // variances that chance does not reach
constexpr double kStillThere = 5;  // once corrected, until it has fallen below so many

// A signal that begins after weak samples is so many times their power, for so many chunks in a row.
constexpr double kLouder = 10;
constexpr std::uint32_t kLouderChunks = 16;

dsp::IqMoments sum(const dsp::IqMoments& a, const dsp::IqMoments& b) {
    return {a.count + b.count, a.power + b.power, a.sum + b.sum, a.square + b.square};
}

dsp::IqMoments scaled(const dsp::IqMoments& m, double factor) {
    return {m.count * factor, m.power * factor, m.sum * factor, m.square * factor};
}

}  // namespace

void IqTracker::add(const BlockSpectrum& block) {
    for (const dsp::IqMoments& chunk : block.moments) {
        if (chunk.power > 0) take(chunk);  // silence says nothing
    }
    decide();
}

// A burst of interference weighs no more than the rest.
void IqTracker::take(const dsp::IqMoments& chunk) {
    const double usual = sum_.count > 0 ? sum_.power / sum_.count * chunk.count : chunk.power;
    const dsp::IqMoments weighed = scaled(chunk, std::min(1.0, usual / chunk.power));
    sum_ = scaled(sum_, std::max(0.0, 1 - weighed.count / (kBalanceMemorySymbols * samples_per_symbol_)));
    sum_ = sum(sum_, weighed);
    follow_level(chunk, usual);
}

// Weak samples, such as the beginning of a filter's answer after silence, show no property of a signal that
// is far above them, and would outweigh it for ever.
void IqTracker::follow_level(const dsp::IqMoments& chunk, double usual) {
    const bool is_louder = chunk.power > kLouder * usual;
    louder_ = is_louder ? sum(louder_, chunk) : dsp::IqMoments{};
    louder_chunks_ = is_louder ? louder_chunks_ + 1 : 0;
    if (louder_chunks_ < kLouderChunks) return;
    sum_ = louder_;
    louder_ = {};
    louder_chunks_ = 0;
}

void IqTracker::decide() {
    if (sum_.count == 0) return;
    const dsp::IqCorrection all = dsp::iq_correction(sum_);
    const double variance = samples_per_symbol_ / sum_.count;
    const double power = sum_.power / sum_.count - std::norm(all.offset);  // of all else
    const auto kept = [&](Iq value, double share, Iq& corrected, double& db) {
        const bool stands_out = share > variance * (corrected == Iq{} ? kChance : kStillThere);
        corrected = stands_out ? value : Iq{};
        db = stands_out ? 10 * std::log10(share) : kNone;
    };
    if (louder_chunks_ > 0) return void(correction_ = {});
    kept(all.offset, std::norm(all.offset) / power, correction_.offset, offset_db_);
    kept(all.image, std::norm(all.image), correction_.image, image_db_);
}

}  // namespace tidemill::dvbs2
