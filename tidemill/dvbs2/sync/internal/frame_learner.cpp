#include "tidemill/dvbs2/sync/internal/frame_learner.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/dsp/rotator.hpp"

namespace tidemill::dvbs2::internal {

namespace {

// Cycles per symbol squared. A carrier that drifts by less than the first is followed as one that stands
// still.
constexpr double kLeastDrift = 4e-9;
constexpr double kLeastSteadyDrift = 1.5e-9;  // the same without pilots
// Without pilots a faster one is followed as soon as the headers' frequencies show it, before their phases
// do.
constexpr double kFastDrift = 5e-8;
constexpr double kStill = 1e-9;
constexpr int kStillFrames = 16;
constexpr double kSureSigmas = 5;
constexpr double kDoubtfulSigmas = 2.5;
constexpr double kDriftGain = 0.3;
constexpr double kSureSigma = 2.5e-9;
constexpr double kSureSpan = 90e3;   // symbols: of headers so far apart four show a drift beyond doubt
constexpr double kLikelySigmas = 3;  // while nobody knows, and headers are as far apart as waiting allows:
constexpr double kLikelySpan = 140e3;
constexpr std::size_t kStraightSymbols = 64;  // a parabola is made of lines so long

// From one place to another, which may be before it.
double way(std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(static_cast<std::int64_t>(to - from));
}

std::uint64_t middle_of(const FoundFrame& frame) {
    return frame.start + static_cast<std::uint64_t>(frame.length / 2);
}

bool has_pilots(const FoundFrame& frame) {
    return layout_of(frame.pls).pilot_blocks > 0;
}

bool is_significant(const DriftWatch::Found& found, double sigmas) {
    return std::abs(found.drift) > std::max(kLeastDrift, sigmas * found.sigma);
}

}  // namespace

void FrameLearner::begin(const HeardSymbols& heard, const FrameLead& lead) {
    tracker_ = CarrierFrequencyTracker(lead.hit.frequency);
    quality_ = lead.hit.quality;
    watch_ = {};
    inverted_ = lead.hit.inverted;
    stand_at(heard, lead.place);
    drift_ = 0;
    still_ = 0;
    sure_ = found_drift_ = learned_ = false;
}

// Frequency that the front took out, derotated.
double FrameLearner::front_at(const HeardSymbols& heard, std::uint64_t place) const {
    return inverted_ ? -heard.front.at(place) : heard.front.at(place);
}

void FrameLearner::stand_at(const HeardSymbols& heard, std::uint64_t place) {
    middle_ = place;
    front_ = front_at(heard, place);
    away_ = heard.front.away(place);
}

double FrameLearner::moved_by(const HeardSymbols& heard, std::uint64_t place) const {
    return drift_ * way(middle_, place) - (front_at(heard, place) - front_);
}

double FrameLearner::frequency_at(const HeardSymbols& heard, std::uint64_t place) const {
    return tracker_.frequency() + moved_by(heard, place);
}

void FrameLearner::derotate(const HeardSymbols& heard, std::uint64_t place, std::uint64_t middle,
                            std::span<Iq> symbols) const {
    if (drift_ == 0 && !heard.front.turns(std::min(place, middle), std::max(place + symbols.size(), middle)))
        return;
    const double middle_cycles = heard.front.cycles(middle), middle_front = heard.front.at(middle);
    const auto bend = [&](std::uint64_t at) {
        const double x = way(middle, at);
        const double front = heard.front.cycles(at) - middle_cycles - middle_front * x;
        return 0.5 * drift_ * x * x - (inverted_ ? -front : front);
    };
    double from = bend(place);
    for (std::size_t first = 0; first < symbols.size(); first += kStraightSymbols) {
        const std::size_t count = std::min(kStraightSymbols, symbols.size() - first);
        const double to = bend(place + first + count);
        const auto part = symbols.subspan(first, count);
        dsp::rotate(part, {-(from - std::floor(from)), (from - to) / static_cast<double>(count)}, part);
        from = to;
    }
}

void FrameLearner::read_blocks(const HeardSymbols& heard, const FoundFrame& frame, const FoundFrame& next) {
    blocks_.assign(1, {0, header_references(frame.pls.code())});
    for (int block = 0; block < layout_of(frame.pls).pilot_blocks; ++block) {
        const int place = FrameLayout::pilot_start(block);
        blocks_.push_back({place, scrambler_->pilot_references().subspan(
                                      static_cast<std::size_t>(place - kHeaderSymbols), kPilotBlockSymbols)});
    }
    std::size_t count = static_cast<std::size_t>(frame.length);
    if (next.start == frame.end()) {
        blocks_.push_back({frame.length, header_references(next.pls.code())});
        count += kHeaderSymbols;
    }
    upright_.resize(count);
    for (const CarrierFrequencyTracker::Block& block : blocks_) {
        const auto place = static_cast<std::size_t>(block.place);
        const auto symbols = std::span(upright_).subspan(place, block.references.size());
        copy_upright(heard.kept.at(frame.start + place, symbols.size()), frame.inverted, symbols);
        derotate(heard, frame.start + place, middle_of(frame), symbols);
    }
}

void FrameLearner::learn(const HeardSymbols& heard, const FoundFrame& frame, const FoundFrame& next) {
    read_blocks(heard, frame, next);
    if (heard.front.away(frame.start) != away_) watch_ = {};  // found anew it may be beside: no drift
    tracker_.carry(moved_by(heard, middle_of(frame)));
    stand_at(heard, middle_of(frame));
    quality_ += 0.1 * (frame.quality - quality_);
    tracker_.learn(upright_, blocks_, esn0());
    learned_ = true;
    found_drift_ = false;
    watch(frame);
    drift_ == 0 ? look_for_drift(frame) : follow_drift(frame);
}

void FrameLearner::watch(const FoundFrame& frame) {
    if (has_pilots(frame)) watch_.add(tracker_.parts(), tracker_.last_move(), esn0());
    if (needs_headers(frame)) add_headers(frame);
}

// Headers take time to measure, and pilots alone show that a carrier goes on standing still.
bool FrameLearner::needs_headers(const FoundFrame& frame) const {
    return !has_pilots(frame) || !sure_ || drift_ != 0 ||
           is_significant(watch_.by_pilots_alone(), kDoubtfulSigmas);
}

// While it is taken to stand still.
void FrameLearner::look_for_drift(const FoundFrame& frame) {
    if (has_pilots(frame)) {
        const DriftWatch::Found found = watch_.by_pilots();
        sure_ = sure_ || (!found.open && !is_significant(found, kDoubtfulSigmas));
        if (is_significant(found, kSureSigmas)) take_drift(found.drift);
        return;
    }
    const DriftWatch::Found fast = watch_.by_frequencies();
    if (std::abs(fast.drift) > std::max(kFastDrift, kSureSigmas * fast.sigma)) return take_drift(fast.drift);
    const DriftWatch::Found found = watch_.by_headers();
    const bool is_known = found.sigma < kSureSigma;
    const double sigmas = !sure_ && found.span > kLikelySpan ? kLikelySigmas : kSureSigmas;
    sure_ = sure_ || live_ || is_known;
    const bool drifts = std::abs(found.drift) > std::max(kLeastSteadyDrift, sigmas * found.sigma);
    if (drifts && (is_known || found.span > kSureSpan)) take_drift(found.drift);
}

// Its own, and that of the next.
void FrameLearner::add_headers(const FoundFrame& frame) {
    for (const CarrierFrequencyTracker::Block* block : {&blocks_.front(), &blocks_.back()}) {
        const auto place = static_cast<std::size_t>(block->place);
        if (watch_.knows(way(0, frame.start + place))) continue;
        FrequencyEstimator own(tracker_.frequency());
        own.add(std::span<const Iq>(upright_).subspan(place, kHeaderSymbols), block->references);
        const std::uint64_t start = frame.start + place;
        const double now = own.frequency() + own.offset() + front_ + drift_ * way(middle_, start);
        watch_.add_header({way(0, start), now, std::pow(own.sigma(esn0()), 2), tracker_.header_lag(),
                           tracker_.header_bend()});
    }
}

void FrameLearner::take_drift(double drift) {
    drift_ = drift;
    watch_.forget_pilots();
    found_drift_ = sure_ = true;
}

void FrameLearner::begin_again(const HeardSymbols& heard, const FoundFrame& first) {
    DriftWatch::Found line = watch_.by_headers();
    if (line.sigma >= 1) line = watch_.by_frequencies();
    double now = tracker_.own_frequency();
    if (line.sigma < 1) now = line.frequency + drift_ * (way(0, middle_) - line.place) - front_;
    tracker_ = CarrierFrequencyTracker(now);
    tracker_.expect_drift(true);
    tracker_.carry(moved_by(heard, middle_of(first)));
    stand_at(heard, middle_of(first));
}

// The drift that a frame's pilots or the latest headers show where it is beyond doubt another one. From frame
// to frame the phase shows it finely, but not one that has changed by so much that it turns by half a turn
// more.
std::optional<double> FrameLearner::contradicted_by(const FoundFrame& frame) const {
    if (has_pilots(frame)) {
        const DriftWatch::Found left = watch_.by_pilots(drift_);
        return is_significant(left, kSureSigmas) ? std::optional(drift_ + left.drift) : std::nullopt;
    }
    const DriftWatch::Found other = watch_.by_frequencies();
    const bool differs = is_significant({.drift = other.drift - drift_, .sigma = other.sigma}, kSureSigmas);
    return differs ? std::optional(other.drift) : std::nullopt;
}

void FrameLearner::follow_drift(const FoundFrame& frame) {
    if (const auto other = contradicted_by(frame)) return take_drift(*other);
    if (tracker_.tells_moves()) {
        if (tracker_.settled() && tracker_.has_known_before())
            drift_ += kDriftGain * tracker_.last_move() / frame.length;
    } else {
        const DriftWatch::Found line = watch_.by_headers();
        if (line.span > kSureSpan) drift_ = line.drift;
    }
    still_ = std::abs(drift_) < kStill ? still_ + 1 : 0;
    if (still_ < kStillFrames) return;
    drift_ = 0;
    still_ = 0;
    watch_ = {};
    tracker_.expect_drift(false);
}

// They are all known, as pilots are.
float FrameLearner::dummy_quality(const HeardSymbols& heard, std::uint64_t place) const {
    constexpr std::size_t kTogether = kSlotSymbols;
    constexpr std::size_t kSymbols = kDummySlots * kSlotSymbols;
    const auto references = scrambler_->pilot_references().first(kSymbols);
    std::vector<Iq> symbols(kSymbols);
    copy_upright(heard.kept.at(place + kHeaderSymbols, kSymbols), inverted_, symbols);
    dsp::rotate(symbols, {0, -frequency_at(heard, place)}, symbols);
    float explained = 0, energy = 0;
    for (std::size_t first = 0; first < kSymbols; first += kTogether) {
        Iq sum{};
        for (std::size_t i = first; i < first + kTogether; ++i) {
            sum += symbols[i] * references[i];
            energy += std::norm(symbols[i]);
        }
        explained += std::norm(sum) / kTogether;
    }
    return energy > 0 ? explained / energy : 0;
}

// A header alone gives the frequency as the bound of Cramer and Rao says.
double FrameLearner::sigma() const {
    if (has_learned()) return tracker_.sigma();
    return std::sqrt(6 / (esn0() * std::pow(kHeaderSymbols, 3))) / dsp::kTwoPi;
}

double FrameLearner::esn0() const {
    const double quality = std::clamp(quality_, 0.01, 0.99);
    return quality / (1 - quality);
}

}  // namespace tidemill::dvbs2::internal
