#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "tidemill/scheduling/static/interruption.hpp"
#include "tidemill/scheduling/static/packing/packing.hpp"
#include "tidemill/scheduling/static/packing/packing_moves.hpp"

namespace tidemill::internal {
namespace {

/// Tries changes at random, keeps those that help, and ever fewer of the others.
class Annealing {
  public:
    Annealing(const PackingProblem& problem, Packing start)
        : problem_(problem), best_(std::move(start)), tasks_(best_.tasks) {
        count_anew();
    }

    Packing search() {
        constexpr double kTries = 1'000'000;
        const auto tries = static_cast<int>(kTries * problem_.effort);
        constexpr int kCountedAnew = 1024;           // before rounding errors add up
        constexpr double kHot = 0.02, kCold = 1e-4;  // parts of the period that a change may cost
        for (int i = 0; i < tries && best_.period_us > problem_.bound_us * (1 + kPackingRounding); ++i) {
            if (i % kCountedAnew == 0) {
                interruption_point();
                count_anew();
            }
            const double heat = kHot * std::pow(kCold / kHot, static_cast<double>(i) / tries);
            if (any(4) == 0)
                try_swap(heat);
            else
                try_change(heat);
        }
        return std::move(best_);
    }

  private:
    static constexpr int kNorm = 16;  // of loads: near the largest, but every thread counts

    void count_anew() {
        loads_us_ = loads_of(problem_, tasks_);
        cost_ = cost_of(loads_us_);
    }

    double cost_of(const std::vector<double>& loads_us) const {
        double sum = 0;
        for (const double load_us : loads_us) {
            const double square = load_us * load_us / (problem_.bound_us * problem_.bound_us);
            const double fourth = square * square;
            sum += fourth * fourth * fourth * fourth;
        }
        return sum;
    }

    std::size_t any(std::size_t count) { return random_() % count; }

    // Another thread, one letter more or less, or one of another thread.
    void try_change(double heat) {
        const std::size_t task = any(problem_.tasks());
        const std::size_t to = any(problem_.threads());
        const std::size_t way = problem_.replicable[task] ? any(4) : 0;
        Letters letters = way == 0 ? only(problem_, to) : tasks_[task];
        if (way > 0) {
            const std::size_t from = any(problem_.threads());
            const bool adds = way != 2, removes = way != 1;
            if (removes && letters[from] == 0) return;
            letters[from] = static_cast<std::uint8_t>(letters[from] - removes);
            letters[to] = static_cast<std::uint8_t>(letters[to] + adds);
            const unsigned length = letters_in(letters);
            if (length == 0 || length > problem_.most_letters) return;
        }
        if (letters == tasks_[task] || !may_have(problem_, task, letters)) return;
        std::vector<double> loads_us = loads_us_;
        add_load(problem_, task, tasks_[task], -1, loads_us);
        add_load(problem_, task, letters, 1, loads_us);
        if (accepts(loads_us, heat)) {
            tasks_[task] = std::move(letters);
            note(std::move(loads_us));
        }
    }

    void try_swap(double heat) {
        const std::size_t a = any(problem_.tasks());
        const std::size_t b = any(problem_.tasks());
        if (tasks_[a] == tasks_[b]) return;
        if (!may_have(problem_, a, tasks_[b]) || !may_have(problem_, b, tasks_[a])) return;
        std::vector<double> loads_us = loads_us_;
        for (const auto& [task, other] : {std::pair(a, b), std::pair(b, a)}) {
            add_load(problem_, task, tasks_[task], -1, loads_us);
            add_load(problem_, task, tasks_[other], 1, loads_us);
        }
        if (accepts(loads_us, heat)) {
            std::swap(tasks_[a], tasks_[b]);
            note(std::move(loads_us));
        }
    }

    bool accepts(const std::vector<double>& loads_us, double heat) {
        const double cost = cost_of(loads_us);
        if (cost <= cost_) return true;
        const double drawn = static_cast<double>(random_() >> 11) * 0x1p-53;
        return drawn < std::pow(cost_ / cost, 1 / (kNorm * heat));
    }

    void note(std::vector<double> loads_us) {
        loads_us_ = std::move(loads_us);
        cost_ = cost_of(loads_us_);
        if (busiest(loads_us_) >= best_.period_us) return;
        count_anew();
        if (const double period_us = busiest(loads_us_); period_us < best_.period_us)
            best_ = {tasks_, period_us};
    }

    const PackingProblem& problem_;
    Packing best_;
    std::vector<Letters> tasks_;
    std::vector<double> loads_us_;
    double cost_ = 0;
    std::mt19937_64 random_{1};
};

}  // namespace

Packing annealed(const PackingProblem& problem, Packing packing) {
    return Annealing(problem, std::move(packing)).search();
}

}  // namespace tidemill::internal
