#include "tidemill/dvbs2/detail_power_phase.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace tidemill::dvbs2::detail {

namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;
constexpr int kStepsPerSector = 16;
constexpr int kReachSteps = 3;
constexpr double kClearly = 7;  // over the mean: at one of the few offsets that headers allow, noise does not
constexpr double kReachSigmas = 4;
constexpr double kWander = 0.05;  // radians squared that the phase may wander within a frame
using Complex = std::complex<double>;

Iq product(Iq a, Iq b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex times(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex turned(Complex a, double radians) {
    return times(a, std::polar(1.0, -radians));
}

// Of the length only the fourth power is kept: higher ones would let noise rule. Fourth powers of points on
// the diagonals are -1, and so are twelfth powers of 16APSK.
Iq power(Iq x, int order) {
    const Iq fourth = product(product(x, x), product(x, x));
    const float length = std::norm(x) * std::norm(x);
    const Iq turn = length > 0 ? fourth / length : Iq{};
    Iq result = order % 8 == 0 ? fourth : -fourth;
    for (int done = 4; done < order; done += 4) {
        result = product(result, turn);
    }
    return result;
}

// How well the blocks, which are evenly spaced, agree at an offset: the energy of their sum.
double agreement(std::span<const PowerBlock> blocks, int order, double offset) {
    const double spacing = blocks.size() > 1 ? blocks[1].place - blocks[0].place : 0;
    const Complex step = std::polar(1.0, kTwoPi * order * offset * spacing);
    Complex sum{};
    for (const PowerBlock& block : blocks) {
        sum = times(sum, step) + block.sum;
    }
    return std::norm(sum);
}

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

// Path scores: one state per step of a full turn.
class PhaseTrellis {
  public:
    PhaseTrellis(int order, double step_sigma)
        : order_(order), score_(static_cast<std::size_t>(order * kStepsPerSector)) {
        for (int move = -kReachSteps; move <= kReachSteps; ++move) {
            const double way = move * step() / step_sigma;
            penalty_[static_cast<std::size_t>(move + kReachSteps)] = -0.5 * way * way;
        }
    }

    double step() const { return kTwoPi / static_cast<double>(score_.size()); }

    void add_header(const PhaseSample& header) {
        for (std::size_t s = 0; s < score_.size(); ++s) {
            score_[s] += std::cos(static_cast<double>(s) * step() - header.phase) / header.variance;
        }
    }

    void advance(Complex emission) {
        std::array<double, kStepsPerSector> gain;
        for (int k = 0; k < kStepsPerSector; ++k) {
            gain[static_cast<std::size_t>(k)] = turned(emission, k * step() * order_).real();
        }
        const std::size_t states = score_.size();
        // A copy with both ends repeated, so that a path may run on over a full turn.
        before_.assign(score_.end() - kReachSteps, score_.end());
        before_.insert(before_.end(), score_.begin(), score_.end());
        before_.insert(before_.end(), score_.begin(), score_.begin() + kReachSteps);
        std::vector<std::int8_t>& moves = moves_.emplace_back(states);
        std::ranges::fill(score_, std::numeric_limits<double>::lowest());
        for (int move = -kReachSteps; move <= kReachSteps; ++move) {
            const double* from = before_.data() + kReachSteps - move;
            const double penalty = penalty_[static_cast<std::size_t>(move + kReachSteps)];
            for (std::size_t s = 0; s < states; ++s) {
                const double score = from[s] + penalty;
                moves[s] = score > score_[s] ? static_cast<std::int8_t>(move) : moves[s];
                score_[s] = std::max(score, score_[s]);
            }
        }
        for (std::size_t s = 0; s < states; ++s) {
            score_[s] += gain[s % kStepsPerSector];
        }
    }

    // Phases of all blocks, not wrapped.
    std::vector<double> path() const {
        const auto best = std::ranges::max_element(score_) - score_.begin();
        auto state = static_cast<std::ptrdiff_t>(best);
        const auto states = static_cast<std::ptrdiff_t>(score_.size());
        std::vector<double> phases(moves_.size());
        for (std::size_t b = moves_.size(); b-- > 0;) {
            phases[b] = static_cast<double>(state) * step();
            state -= moves_[b][static_cast<std::size_t>((state % states + states) % states)];
        }
        return phases;
    }

  private:
    int order_;
    std::vector<double> score_, before_;
    std::array<double, 2 * kReachSteps + 1> penalty_{};
    std::vector<std::vector<std::int8_t>> moves_;
};

PhaseSample near(const PhaseSample& sample, double phase) {
    return {sample.place, sample.phase - kTwoPi * std::round((sample.phase - phase) / kTwoPi),
            sample.variance};
}

}  // namespace

void add_powers(std::span<const Iq> data, int order, int place, double frequency, int block_symbols,
                std::vector<PowerBlock>& blocks) {
    const Iq step(std::polar(1.0, -kTwoPi * order * frequency));
    const auto block = static_cast<std::size_t>(block_symbols);
    for (std::size_t start = 0; start + block <= data.size(); start += block) {
        const double first = place + static_cast<double>(start);
        Iq turn{1, 0};
        Iq sum{};
        for (const Iq symbol : data.subspan(start, block)) {
            sum += product(power(symbol, order), turn);
            turn = product(turn, step);
        }
        const double cycles = order * frequency * first;
        blocks.push_back(
            {first + 0.5 * (block_symbols - 1), turned(sum, kTwoPi * (cycles - std::round(cycles)))});
    }
}

PowerStatistics examine(std::span<const PowerBlock> blocks, int order, double sigma,
                        std::span<const PhaseSample> headers) {
    double energy = 0;
    for (const PowerBlock& block : blocks) {
        energy += std::norm(block.sum);
    }
    const double step = 1 / (4 * order * (blocks.back().place - blocks.front().place));
    const auto steps = static_cast<int>(std::ceil(kReachSigmas * sigma / step));
    PowerStatistics best;
    double best_score = std::numeric_limits<double>::lowest();
    double best_agreement = 0;
    for (int k = -steps; k <= steps; ++k) {
        const double offset = k * step;
        const double agreed = agreement(blocks, order, offset);
        const double score =
            agreed / energy + header_likelihood(headers, offset) - 0.5 * std::pow(offset / sigma, 2);
        if (score > best_score) {
            best_score = score;
            best_agreement = agreed;
            best.offset = offset;
        }
    }
    best.found = best_agreement > kClearly * energy;
    best.offset = best.found ? best.offset : 0;
    const auto count = static_cast<double>(blocks.size());
    best.signal = std::sqrt(std::max(best_agreement - energy, 0.01 * energy)) / count;
    best.noise = std::max(energy / count - best.signal * best.signal, 1e-6 * energy / count);
    return best;
}

void follow_path(std::span<const PowerBlock> blocks, const PowerStatistics& statistics, int order,
                 std::span<const PhaseSample> headers, double step_sigma, std::vector<PhaseSample>& samples) {
    PhaseTrellis trellis(order, step_sigma);
    trellis.add_header(headers.front());
    const double weight = 2 * statistics.signal / statistics.noise;
    const auto removed = [&](const PowerBlock& block) {
        return turned(block.sum, kTwoPi * order * statistics.offset * block.place);
    };
    for (const PowerBlock& block : blocks) {
        trellis.advance(weight * removed(block));
    }
    if (headers.size() > 1) {
        trellis.add_header(headers.back());
    }
    const std::vector<double> path = trellis.path();
    samples.assign(1, near(headers.front(), path.front()));
    const double variance = statistics.noise / (2 * std::pow(order * statistics.signal, 2));
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        // The part across the path, not the angle: it stays without bias where noise hides the carrier.
        const double across = turned(removed(blocks[b]), order * path[b]).imag() / statistics.signal;
        samples.push_back({blocks[b].place, path[b] + across / order, variance});
    }
    if (headers.size() > 1) {
        samples.push_back(near(headers.back(), path.back()));
    }
}

}  // namespace tidemill::dvbs2::detail
