#include "tidemill/dvbs2/carrier/internal/sweep_search.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numbers>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/sync/internal/known_symbols.hpp"

namespace tidemill::dvbs2::internal {

namespace {

constexpr double kReachSigmas = 4;
constexpr double kLoneStepsPerTurn = 32;
constexpr double kDriftStep = 1e-9;  // cycles per symbol squared
constexpr int kDriftSteps = 4;       // to each side,
constexpr int kMostDriftSteps = 16;  // and where the outermost fit best
constexpr std::size_t kJoined = 4;   // blocks, once their offset is nearly known
constexpr double kLargestLag = 20;   // in log-likelihood, behind the best offset
constexpr std::size_t kMostSweeps = 5;

// Offsets worth a look. Two headers allow only those at which the phase turns by the right part of a turn
// between them; from one alone they are as close together as the blocks can distinguish.
class OffsetComb {
  public:
    OffsetComb(std::span<const PhaseSample> headers, double span) : step_(1 / (kLoneStepsPerTurn * span)) {
        const auto is_known = [](const PhaseSample& header) { return header.variance < kErasedVariance; };
        if (headers.size() < 2 || !std::ranges::all_of(headers, is_known)) return;
        step_ = 1 / (headers.back().place - headers.front().place);
        first_ = step_ * (headers.back().phase - headers.front().phase) / dsp::kTwoPi;
    }

    double step() const { return step_; }

    // Those within `reach` of a place, or the nearest.
    std::vector<double> near(double place, double reach) const {
        reach = std::max(reach, 0.5 * step_);
        std::vector<double> offsets;
        const double from = std::ceil((place - reach - first_) / step_);
        for (double k = from; first_ + k * step_ <= place + reach; ++k) {
            offsets.push_back(first_ + k * step_);
        }
        if (offsets.empty()) offsets.push_back(place);  // where a phase was no number
        return offsets;
    }

  private:
    double first_ = 0;
    double step_;
};

struct Candidate {
    Sweep sweep;
    double score = std::numeric_limits<double>::lowest();
    double power = 0;
};

std::vector<PowerBlock> without(const Sweep& sweep, int order, std::span<const PowerBlock> blocks) {
    std::vector<PowerBlock> result(blocks.begin(), blocks.end());
    for (PowerBlock& block : result) {
        block.sum *= std::polar(1.0, -order * sweep.phase_at(block.place));
    }
    return result;
}

// Some neighbours become one; what is left over at the end counts for nothing.
std::vector<PowerBlock> joined(std::span<const PowerBlock> blocks) {
    std::vector<PowerBlock> result;
    for (std::size_t first = 0; first + kJoined <= blocks.size(); first += kJoined) {
        PowerBlock& sum = result.emplace_back();
        for (const PowerBlock& block : blocks.subspan(first, kJoined)) {
            sum.sum += block.sum;
            sum.place += block.place / kJoined;
        }
    }
    return result;
}

class SweepSearch {
  public:
    SweepSearch(std::span<const PowerBlock> blocks, int order, double sigma,
                std::span<const PhaseSample> headers)
        : blocks_(blocks),
          order_(order),
          sigma_(sigma),
          comb_(headers, span_of(blocks)),
          agreement_(blocks, order),
          middle_(0.5 * (blocks.front().place + blocks.back().place)) {}

    LikelySweeps run() {
        const std::vector<double> offsets = comb_.near(0, kReachSigmas * sigma_);
        // Noise makes no other offset look as good as the right one by much, whatever its prior.
        double most = 0;
        for (const double offset : offsets) most = std::max(most, agreement_.at(offset));
        power_ = agreement_.power(most);
        std::vector<Candidate> found = sweeps_near(offsets);
        while (is_outermost(found.front().sweep) && drift_steps_ < kMostDriftSteps) {
            drift_steps_ *= 2;
            found = sweeps_near(offsets);
        }
        LikelySweeps likely{statistics_of(agreement_.energy(), found.front().power / (kJoined * kJoined)),
                            {}};
        for (const Candidate& candidate : found) likely.sweeps.push_back(candidate.sweep);
        return likely;
    }

  private:
    double most_drift() const { return drift_steps_ * kDriftStep; }
    bool is_outermost(const Sweep& sweep) const {
        return std::abs(sweep.drift) > most_drift() - 0.5 * kDriftStep;
    }
    // Error of an offset from a drift that is left out.
    double blur() const { return most_drift() * 0.5 * span_of(blocks_); }

    std::vector<Candidate> sweeps_near(std::span<const double> offsets) const {
        std::vector<Candidate> found;
        for (const Candidate& line : likely_lines(offsets)) found.push_back(with_drift(line.sweep));
        std::ranges::sort(found, std::greater{}, &Candidate::score);
        return found;
    }

    Sweep sweep_at(double offset, double drift) const {
        const double away = std::pow(offset / sigma_, 2) + std::pow(2 * drift / most_drift(), 2);
        return {offset, drift, middle_, -0.5 * away};
    }

    // Offsets without drift, the likeliest first, each for all those near it.
    std::vector<Candidate> likely_lines(std::span<const double> offsets) const {
        std::vector<Candidate> all;
        for (const double offset : offsets) {
            const Sweep line = sweep_at(offset, 0);
            all.push_back({line, line.prior + agreement_.likelihood(agreement_.at(offset), power_)});
        }
        std::ranges::sort(all, std::greater{}, &Candidate::score);
        const double apart = std::max(blur(), 0.25 / span_of(blocks_));
        std::vector<Candidate> lines;
        for (const Candidate& line : all) {
            const auto is_near = [&](const Candidate& better) {
                return std::abs(better.sweep.offset - line.sweep.offset) < apart;
            };
            if (lines.size() == kMostSweeps || line.score < all.front().score - kLargestLag) break;
            if (std::ranges::none_of(lines, is_near)) lines.push_back(line);
        }
        return lines;
    }

    Candidate with_drift(const Sweep& line) const {
        const std::vector<PowerBlock> slow = joined(without(line, order_, blocks_));
        const std::vector<double> offsets = comb_.near(line.offset, blur());
        Candidate best;
        for (int k = -drift_steps_; k <= drift_steps_; ++k) {
            const double drift = k * kDriftStep;
            const BlockAgreement straight(without({0, drift, middle_}, order_, slow), order_);
            for (const double offset : offsets) {
                const Sweep sweep = sweep_at(offset, drift);
                const double agreed = straight.at(offset - line.offset);
                const double score = sweep.prior + straight.likelihood(agreed, power_ * kJoined * kJoined);
                if (score > best.score) best = {sweep, score, straight.power(agreed)};
            }
        }
        return best;
    }

    std::span<const PowerBlock> blocks_;
    int order_;
    double sigma_;
    OffsetComb comb_;
    BlockAgreement agreement_;
    double middle_;
    double power_ = 0;
    int drift_steps_ = kDriftSteps;
};

}  // namespace

double Sweep::bend_at(double place) const {
    return std::numbers::pi * drift * (place - middle) * (place - middle);
}

double Sweep::phase_at(double place) const {
    return dsp::kTwoPi * offset * place + bend_at(place);
}

LikelySweeps search_sweeps(std::span<const PowerBlock> blocks, int order, double sigma,
                           std::span<const PhaseSample> headers) {
    return SweepSearch(blocks, order, sigma, headers).run();
}

}  // namespace tidemill::dvbs2::internal
