#include "tidemill/dvbs2/detail_power_phase.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tidemill::dvbs2::detail {

namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;
constexpr double kReachSigmas = 4;
constexpr double kWander = 0.05;     // radians squared that the phase may wander within a frame
constexpr double kStepsPerTurn = 8;  // of the phase between the headers
constexpr double kLagMemory = 900;   // symbols
constexpr double kDriftStep = 1e-9;  // cycles per symbol squared
constexpr int kDriftSteps = 4;       // to each side
constexpr double kDriftSigma = 2e-9;
constexpr double kLeastSignal = 0.01;  // of the energy
constexpr std::size_t kJoined = 4;     // blocks, once their offset is nearly known
using Complex = std::complex<double>;

Complex times(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

double span_of(std::span<const PowerBlock> blocks) {
    return blocks.back().place - blocks.front().place;
}

std::vector<PowerBlock> without(const Sweep& sweep, int order, std::span<const PowerBlock> blocks) {
    std::vector<PowerBlock> result(blocks.begin(), blocks.end());
    for (PowerBlock& block : result) {
        block.sum = times(block.sum, std::polar(1.0, -order * sweep.phase_at(block.place)));
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

double mean_energy(std::span<const PowerBlock> blocks) {
    double sum = 0;
    for (const PowerBlock& block : blocks) {
        sum += std::norm(block.sum);
    }
    return sum / static_cast<double>(blocks.size());
}

// How well blocks agree with their neighbours. Those far apart are not compared: what a noisy carrier does
// between them, no offset foretells.
class Agreement {
  public:
    Agreement(std::span<const PowerBlock> blocks, int order) : energy_(mean_energy(blocks)) {
        const double spacing = span_of(blocks) / static_cast<double>(blocks.size() - 1);
        turn_ = kTwoPi * order * spacing;
        const auto lags = static_cast<std::size_t>(2.5 * kLagMemory / spacing);
        for (std::size_t lag = 1; lag <= lags && lag < blocks.size(); ++lag) {
            add_lag(blocks, lag, std::exp(-static_cast<double>(lag) * spacing / kLagMemory));
        }
    }

    // Weighted sum of the pairs' products when an offset is removed from the blocks.
    double at(double offset) const {
        const Complex step = std::polar(1.0, -turn_ * offset);
        Complex sum{};
        for (std::size_t lag = lag_sums_.size(); lag-- > 0;) {
            sum = times(sum + lag_sums_[lag], step);
        }
        return sum.real();
    }

    // Log-likelihood of such a sum against noise alone, when `signal` is expected: it gains in proportion.
    double likelihood(double agreed, double signal) const {
        const double expected = signal * pairs_;
        return expected * (2 * agreed - expected) / (energy_ * energy_ * noise_pairs_);
    }

    // Mean square of what points with the carrier, if it is this that makes the sum.
    double signal(double agreed) const { return std::max(agreed / pairs_, kLeastSignal * energy_); }

  private:
    void add_lag(std::span<const PowerBlock> blocks, std::size_t lag, double weight) {
        Complex sum{};
        for (std::size_t b = lag; b < blocks.size(); ++b) {
            sum += times(blocks[b].sum, std::conj(blocks[b - lag].sum));
        }
        const auto pairs = static_cast<double>(blocks.size() - lag);
        lag_sums_.push_back(weight * sum);
        pairs_ += weight * pairs;
        noise_pairs_ += weight * weight * pairs;
    }

    double energy_;
    double turn_;
    std::vector<Complex> lag_sums_;  // of lags from 1 on
    double pairs_ = 0;
    double noise_pairs_ = 0;
};

// Two headers allow only offsets at which the phase turns by the right part of a turn between them.
double header_likelihood(std::span<const PhaseSample> headers, double offset) {
    if (headers.size() < 2) {
        return 0;
    }
    const PhaseSample& a = headers.front();
    const PhaseSample& b = headers.back();
    const double turn = b.phase - a.phase - kTwoPi * offset * (b.place - a.place);
    return std::cos(turn) / (a.variance + b.variance + kWander);
}

// What blocks, headers and what was known before say of sweeps.
struct Evidence {
    int order;
    double sigma;
    std::span<const PhaseSample> headers;
    double step;  // from offset to offset

    double of_sweep(const Sweep& sweep) const {
        const double away = std::pow(sweep.offset / sigma, 2) + std::pow(sweep.drift / kDriftSigma, 2);
        return header_likelihood(headers, sweep.offset) - 0.5 * away;
    }
};

struct Candidate {
    Sweep sweep;
    double score = std::numeric_limits<double>::lowest();
    double signal = 0;
};

// The best offset within `reach` of that of `start`, at its drift; `agreement` is of blocks free of `start`.
Candidate best_near(const Evidence& evidence, const Sweep& start, double reach, const Agreement& agreement,
                    double signal) {
    Candidate best;
    for (double off = -reach; off <= reach; off += evidence.step) {
        const Sweep sweep{start.offset + off, start.drift, start.middle};
        const double agreed = agreement.at(off);
        const double score = agreement.likelihood(agreed, signal) + evidence.of_sweep(sweep);
        if (score > best.score) best = {sweep, score, agreement.signal(agreed)};
    }
    return best;
}

// Noise makes no other offset look as good as the right one by much, whatever its prior.
double strongest_signal(const Agreement& agreement, double reach, double step) {
    double most = 0;
    for (double off = -reach; off <= reach; off += step) {
        most = std::max(most, agreement.at(off));
    }
    return agreement.signal(most);
}

}  // namespace

double Sweep::bend_at(double place) const {
    return std::numbers::pi * drift * (place - middle) * (place - middle);
}

double Sweep::phase_at(double place) const {
    return kTwoPi * offset * place + bend_at(place);
}

PowerStatistics examine_straight(std::span<const PowerBlock> blocks) {
    double agreed = 0;
    for (std::size_t b = 1; b < blocks.size(); ++b) {
        agreed += times(blocks[b].sum, std::conj(blocks[b - 1].sum)).real();
    }
    const double energy = mean_energy(blocks);
    const double power = std::max(agreed / static_cast<double>(blocks.size()), kLeastSignal * energy);
    return {std::sqrt(power), std::max(energy - power, 1e-3 * energy), {}};
}

PowerStatistics examine(std::span<const PowerBlock> blocks, int order, double sigma,
                        std::span<const PhaseSample> headers) {
    const Evidence evidence{order, sigma, headers, 1 / (kStepsPerTurn * span_of(blocks))};
    const double reach = kReachSigmas * sigma;
    const Agreement agreement(blocks, order);
    const double signal = strongest_signal(agreement, reach, evidence.step);
    const Sweep none{0, 0, 0.5 * (blocks.front().place + blocks.back().place)};
    const Sweep line = best_near(evidence, none, reach, agreement, signal).sweep;
    const std::vector<PowerBlock> slow = joined(without(line, order, blocks));
    // So far a drift may have blurred the offset.
    const double blur = kDriftSteps * kDriftStep * 0.5 * span_of(blocks);
    Candidate best;
    for (int k = -kDriftSteps; k <= kDriftSteps; ++k) {
        const double drift = k * kDriftStep;
        const Agreement straight(without({0, drift, none.middle}, order, slow), order);
        const Candidate found = best_near(evidence, {line.offset, drift, none.middle}, blur, straight,
                                          signal * kJoined * kJoined);
        if (found.score > best.score) best = found;
    }
    const double energy = mean_energy(blocks);
    const double power = best.signal / (kJoined * kJoined);
    return {std::sqrt(power), std::max(energy - power, 1e-3 * energy), best.sweep};
}

}  // namespace tidemill::dvbs2::detail
