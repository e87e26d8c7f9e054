#include "tidemill/dvbs2/detail_phase_path.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace tidemill::dvbs2::detail {

namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;
constexpr int kStates = 192;  // steps of a full turn: a multiple of every order
constexpr int kReach = 4;     // steps from block to block at most
constexpr double kStep = kTwoPi / kStates;
using Complex = std::complex<double>;

// Scores of the best paths to each state after each block (Viterbi). Which move was best is found out anew on
// the way back: so the loop that matters has nothing but additions and maxima.
class PhaseTrellis {
  public:
    PhaseTrellis(int order, double step_sigma, std::size_t blocks) : scores_((blocks + 1) * kRow) {
        for (int move = -kReach; move <= kReach; ++move) {
            const double way = move * kStep / step_sigma;
            penalty_[static_cast<std::size_t>(move + kReach)] = static_cast<float>(-0.5 * way * way);
        }
        for (int k = 0; k < kStates / order; ++k) {
            turns_.emplace_back(std::polar(1.0, order * k * kStep));
        }
    }

    void add_header(const PhaseSample& header) {
        for (int s = 0; s < kStates; ++s) {
            row(done_)[kReach + s] +=
                static_cast<float>(std::cos(s * kStep - header.phase) / header.variance);
        }
    }

    void advance(Complex emission) {
        // Both ends are repeated, so that a path may run on over a full turn.
        float* from = row(done_);
        std::copy_n(from + kStates, kReach, from);
        std::copy_n(from + kReach, kReach, from + kReach + kStates);
        float* to = row(++done_) + kReach;
        std::fill_n(to, kStates, std::numeric_limits<float>::lowest());
        for (int move = -kReach; move <= kReach; ++move) {
            const float penalty = penalty_of(move);
            const float* before = from + kReach - move;
            for (int s = 0; s < kStates; ++s) {
                to[s] = std::max(to[s], before[s] + penalty);
            }
        }
        add_emission(std::complex<float>(emission), to);
    }

    // Phases of all blocks, not wrapped.
    std::vector<double> path() const {
        std::vector<double> phases(done_);
        const float* last = row(done_) + kReach;
        auto state = static_cast<int>(std::max_element(last, last + kStates) - last);
        int turns = 0;
        for (std::size_t b = done_; b > 0; --b) {
            phases[b - 1] = (state + turns * kStates) * kStep;
            state -= best_move(b - 1, state);
            const int over = state < 0 ? -1 : state >= kStates ? 1 : 0;
            turns += over;
            state -= over * kStates;
        }
        return phases;
    }

  private:
    static constexpr std::size_t kRow = kStates + 2 * kReach;

    float* row(std::size_t block) { return scores_.data() + block * kRow; }
    const float* row(std::size_t block) const { return scores_.data() + block * kRow; }
    float penalty_of(int move) const { return penalty_[static_cast<std::size_t>(move + kReach)]; }

    void add_emission(std::complex<float> emission, float* to) const {
        for (std::size_t k = 0; k < turns_.size(); ++k) {
            const float gain = emission.real() * turns_[k].real() + emission.imag() * turns_[k].imag();
            for (std::size_t s = k; s < kStates; s += turns_.size()) {
                to[s] += gain;
            }
        }
    }

    int best_move(std::size_t block, int state) const {
        const float* before = row(block) + kReach + state;
        const auto score = [&](int move) { return before[-move] + penalty_of(move); };
        int best = 0;
        for (int move = -kReach; move <= kReach; ++move) {
            if (score(move) > score(best)) best = move;
        }
        return best;
    }

    std::size_t done_ = 0;
    std::vector<float> scores_;
    std::array<float, 2 * kReach + 1> penalty_{};
    std::vector<std::complex<float>> turns_;  // what the power of each state within a sector is
};

PhaseSample near(const PhaseSample& sample, double phase) {
    return {sample.place, sample.phase - kTwoPi * std::round((sample.phase - phase) / kTwoPi),
            sample.variance};
}

}  // namespace

void follow_path(std::span<const PowerBlock> blocks, const PowerStatistics& statistics, int order,
                 std::span<const PhaseSample> headers, double step_sigma, std::vector<PhaseSample>& samples) {
    const auto straight = [&](PhaseSample header) {
        header.phase -= statistics.sweep.phase_at(header.place);
        return header;
    };
    const auto turned = [&](const PowerBlock& block, double phase) {
        return block.sum * std::polar(1.0, -order * (statistics.sweep.phase_at(block.place) + phase));
    };
    PhaseTrellis trellis(order, step_sigma, blocks.size());
    trellis.add_header(straight(headers.front()));
    const double weight = 2 * statistics.signal / statistics.noise;
    for (const PowerBlock& block : blocks) {
        trellis.advance(weight * turned(block, 0));
    }
    if (headers.size() > 1) {
        trellis.add_header(straight(headers.back()));
    }
    const std::vector<double> path = trellis.path();
    samples.assign(1, near(straight(headers.front()), path.front()));
    const double variance = statistics.noise / (2 * std::pow(order * statistics.signal, 2));
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        // The part across the path, not the angle: it stays without bias where noise hides the carrier.
        const double across = turned(blocks[b], path[b]).imag() / statistics.signal;
        samples.push_back({blocks[b].place, path[b] + across / order, variance});
    }
    if (headers.size() > 1) {
        samples.push_back(near(straight(headers.back()), path.back()));
    }
}

}  // namespace tidemill::dvbs2::detail
