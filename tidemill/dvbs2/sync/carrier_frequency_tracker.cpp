#include "tidemill/dvbs2/sync/carrier_frequency_tracker.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tidemill/dsp/complex_product.hpp"
#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/dvbs2/sync/internal/stepped_sums.hpp"

namespace tidemill::dvbs2 {

namespace {

// The rough sum must average many headers, the fine one follow a carrier that drifts.
constexpr double kNearMemorySymbols = 200e3;
constexpr double kFarMemorySymbols = 40e3;
constexpr double kDriftingNearSymbols = 60e3;
constexpr double kDriftingNearFrames = 5;
constexpr double kDriftingFarSymbols = 8e3;
constexpr double kDrift = 2.5e-9;     // cycles per symbol squared that are to be expected
constexpr double kLongestLag = 2000;  // the pilots' spacing and what occurs near headers; not whole frames
constexpr double kLongestHeaderLag = 9000;        // further apart, a drift may turn the phase by half a turn
constexpr double kLargestTurn = dsp::kTwoPi / 4;  // from frame to frame, of the phase between headers
constexpr double kLobe = 1.0 / 1476;              // between offsets that pilots alone cannot distinguish
constexpr double kNextLobe = kLobe * 5 / 6;       // at the least: polish moves one by a twelfth, twice
constexpr int kGridSteps = 6;                     // to each side, within one lobe
constexpr int kLobes = 3;                         // to each side
constexpr double kSureLead = 15;                  // a wrong lobe with probability exp(-15)
constexpr double kFarSigma = 2e-5;
constexpr double kNearSigma = 0.8e-4;        // a quarter of half a lobe
constexpr double kSmallestJump = kLobe / 2;  // a smaller one is followed within the lobe
constexpr double kJumpSigmas = 6;
constexpr std::size_t kMostLags = 8;

std::complex<double> turned(std::complex<double> a, double radians) {
    return dsp::product(a, dsp::back_turn(radians));
}

struct Scored {
    double score, offset;
};

// Headers alone give no fine sum that could follow a drift: the rough one lags behind by its memory. At this
// many symbols lag and noise together are least; a header's own variance is the Cramer-Rao bound.
double header_memory(double symbols, double esn0) {
    const double variance = 6 / (dsp::kTwoPi * dsp::kTwoPi * std::pow(kHeaderSymbols, 3) * esn0);
    return std::cbrt(variance * symbols / (2 * kDrift * kDrift));
}

}  // namespace

void CarrierFrequencyTracker::learn(std::span<const dsp::Iq> frame, std::span<const Block> blocks,
                                    double esn0) {
    const double length = blocks.back().place - blocks.front().place + 90;
    esn0_ = esn0;
    FrequencyEstimator own = read(frame, blocks);
    own_frequency_ = own.frequency() + own.offset();
    if (has_jumped(own)) {
        start_at(own_frequency_);
        own = read(frame, blocks);
    }
    const double moved = moved_by_headers();
    near_.follow(moved);
    own.move(moved);
    header_memory_ = header_memory(length, esn0);
    const bool forgets_fast = far_.empty() && header_lag_ == 0;
    near_.forget(std::exp(-length / (forgets_fast ? header_memory_ : near_memory(length))));
    for (FarSum& far : far_) {
        far.sum *= std::exp(-length / (drifts_ ? kDriftingFarSymbols : kFarMemorySymbols));
    }
    near_.add(own);
    add_far(parts_, esn0);
    const Choice choice = choose();
    lead_ = choice.lead;
    last_move_ = far_.empty() ? moved : choice.offset;
    move(choice.offset);
    ++frames_;
    symbols_ += length;
}

// One or two long frames do not decide between one lobe and the next.
double CarrierFrequencyTracker::near_memory(double length) const {
    if (!drifts_) return kNearMemorySymbols;
    return far_.empty() ? kDriftingNearSymbols : std::max(kDriftingNearSymbols, kDriftingNearFrames * length);
}

void CarrierFrequencyTracker::carry(double by) {
    if (by == 0) return;
    near_.follow(by);
    header_turn_ += dsp::kTwoPi * header_lag_ * by;
}

// From one short frame without pilots to the next, of the same length, the phase between the headers shows
// how far the carrier has moved; a rough sum that moves along may remember many of them.
double CarrierFrequencyTracker::moved_by_headers() {
    const double lag = parts_.back().place - parts_.front().place;
    if (parts_.size() != 2 || lag > kLongestHeaderLag || !far_.empty()) {
        header_lag_ = bend_lag_ = 0;
        return 0;
    }
    const double turn =
        std::arg(parts_.back().sum * std::conj(parts_.front().sum)) + dsp::kTwoPi * near_.frequency() * lag;
    const double difference = std::remainder(turn - header_turn_, dsp::kTwoPi);
    bend_lag_ = lag == header_lag_ ? lag : 0;
    header_bend_ = difference;
    const double largest = drifts_ ? 2 * kLargestTurn : kLargestTurn;
    const bool follows = lag == header_lag_ && std::abs(difference) < largest;
    header_lag_ = lag;
    header_turn_ = turn;
    return follows ? difference / (dsp::kTwoPi * lag) : 0;
}

// The blocks' sums at the frequency as it is known, and what they say of it themselves.
FrequencyEstimator CarrierFrequencyTracker::read(std::span<const dsp::Iq> frame,
                                                 std::span<const Block> blocks) {
    const internal::BlockTurns turns(near_.frequency());
    FrequencyEstimator own(near_.frequency());
    std::array<dsp::Iq, kHeaderSymbols> products;
    parts_.clear();
    for (const Block& block : blocks) {
        const std::size_t count = block.references.size();
        const auto some = std::span(products).first(count);
        const auto sums = turns.turn_back(frame.subspan(static_cast<std::size_t>(block.place), count),
                                          block.references, some);
        own.add_products(some);
        parts_.push_back(internal::known_part(sums, block.place, static_cast<int>(count), turns.frequency()));
    }
    return own;
}

// A frame's own blocks, where they are beyond doubt, count for more than all that was learned before them.
bool CarrierFrequencyTracker::has_jumped(const FrequencyEstimator& own) const {
    const double doubt = std::hypot(own.sigma(esn0_), near_.sigma(esn0_));
    return frames_ > 0 && std::abs(own.offset()) > std::max(kSmallestJump, kJumpSigmas * doubt);
}

void CarrierFrequencyTracker::start_at(double frequency) {
    near_ = FrequencyEstimator(frequency);
    far_.clear();
    header_lag_ = 0;
    frames_ = 0;
    symbols_ = 0;
}

void CarrierFrequencyTracker::add_far(std::span<const internal::KnownPart> blocks, double esn0) {
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        const internal::KnownPart& a = blocks[i - 1];
        const internal::KnownPart& b = blocks[i];
        const double lag = b.place - a.place;
        const double energy = std::sqrt(a.energy * a.symbols * b.energy * b.symbols) * esn0 / (1 + esn0);
        const double variance = (1.0 / a.symbols + 1.0 / b.symbols) / (2 * esn0);
        const std::complex<double> agreement =
            b.sum * std::conj(a.sum) / (std::max(energy, 1e-30) * variance);
        if (lag > kLongestLag || !std::isfinite(std::norm(agreement))) {
            continue;
        }
        const auto same = std::ranges::find(far_, lag, &FarSum::lag);
        if (same != far_.end()) {
            same->sum += agreement;
        } else {
            far_.push_back({lag, agreement});
        }
    }
    if (far_.size() > kMostLags) {
        far_.erase(std::ranges::min_element(far_, {}, [](const FarSum& f) { return std::norm(f.sum); }));
    }
}

double CarrierFrequencyTracker::far_likelihood(double offset) const {
    double sum = 0;
    for (const FarSum& far : far_) {
        sum += turned(far.sum, dsp::kTwoPi * offset * far.lag).real();
    }
    return sum;
}

CarrierFrequencyTracker::Choice CarrierFrequencyTracker::choose() const {
    const double near = near_.offset();
    if (far_.empty()) {
        return {near, 0};
    }
    const double sigma = near_.sigma(esn0_);
    const auto likelihood = [&](double offset, double far) {
        const double away = (offset - near) / sigma;
        return far - 0.5 * away * away;
    };
    constexpr double kStep = kLobe / (2 * kGridSteps);
    internal::SteppedSums grid(near - kGridSteps * kStep, kStep);
    for (const FarSum& far : far_) grid.add(far.sum, far.lag);
    Scored start{-std::numeric_limits<double>::infinity(), near};
    for (int k = -kGridSteps; k <= kGridSteps; ++k) {
        const double offset = near + k * kStep;
        const double score = likelihood(offset, grid.next().real());
        if (score > start.score) start = {score, offset};
    }
    const auto lobe_at = [&](double about) {
        const double offset = polish(polish(about));
        return Scored{likelihood(offset, far_likelihood(offset)), offset};
    };
    // Nowhere do the fine sums show more than all of them together, and the rough one speaks against a lobe
    // the more the farther it is: mostly no other one need be looked at.
    const Scored here = lobe_at(start.offset);
    double most = 0;
    for (const FarSum& far : far_) most += std::abs(far.sum);
    const double next = near + kNextLobe - std::abs(start.offset - near);
    const double lead = here.score - likelihood(next, most);
    if (lead > kSureLead) return {here.offset, lead};
    std::vector<Scored> lobes{here};
    for (int lobe = 1; lobe <= kLobes; ++lobe) {
        for (const double about : {start.offset - lobe * kLobe, start.offset + lobe * kLobe})
            lobes.push_back(lobe_at(about));
    }
    std::ranges::sort(lobes, std::greater{}, &Scored::score);
    return {lobes[0].offset, lobes[0].score - lobes[1].score};
}

double CarrierFrequencyTracker::polish(double offset) const {
    double slope = 0;
    double curvature = 0;
    for (const FarSum& far : far_) {
        const auto sum = turned(far.sum, dsp::kTwoPi * offset * far.lag);
        slope += far.lag * sum.imag();
        curvature += far.lag * far.lag * sum.real();
    }
    const double step = curvature > 0 ? slope / curvature / dsp::kTwoPi : 0;
    return offset + std::clamp(step, -kLobe / 12, kLobe / 12);
}

void CarrierFrequencyTracker::move(double offset) {
    const bool carrier_moved = frames_ > 0 && !far_.empty() && std::abs(offset) < 0.25 * kLobe;
    carrier_moved ? near_.follow(offset) : near_.move(offset);
    for (FarSum& far : far_) {
        far.sum = turned(far.sum, dsp::kTwoPi * offset * far.lag);
    }
}

double CarrierFrequencyTracker::sigma() const {
    const double near = near_.sigma(esn0_);
    if (!far_.empty()) return settled() ? std::min(near, kFarSigma) : near;
    // The first frames were heard long before this frequency was known.
    const bool follows = header_lag_ > 0 && symbols_ > 2 * header_memory_;
    return std::hypot(near, kDrift * (follows ? 2 * header_lag_ : header_memory_));
}

bool CarrierFrequencyTracker::settled() const {
    if (far_.empty() && symbols_ > header_memory_) return true;
    return lead_ > kSureLead || near_.sigma(esn0_) < kNearSigma;
}

}  // namespace tidemill::dvbs2
