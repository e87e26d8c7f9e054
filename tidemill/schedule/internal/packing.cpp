#include "tidemill/schedule/internal/packing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace tidemill::internal {
namespace {

constexpr double kPackingRounding = 1e-12;

unsigned letters_in(const Letters& letters) {
    return std::accumulate(letters.begin(), letters.end(), 0u);
}

double busiest(const std::vector<double>& loads_us) {
    return *std::ranges::max_element(loads_us);
}

Letters only(const PackingProblem& problem, std::size_t thread) {
    Letters letters(problem.threads(), 0);
    letters[thread] = 1;
    return letters;
}

bool may_have(const PackingProblem& problem, std::size_t task, const Letters& letters) {
    if (!problem.replicable[task] && letters_in(letters) > 1) return false;
    for (std::size_t thread = 0; thread < letters.size(); ++thread)
        if (letters[thread] > 0 && std::isinf(problem.weight_us(task, thread))) return false;
    return true;
}

// Or, with -1, takes it away.
void add_load(const PackingProblem& problem, std::size_t task, const Letters& letters, double sign,
              std::vector<double>& loads_us) {
    const double each = sign / letters_in(letters);
    for (std::size_t thread = 0; thread < letters.size(); ++thread)
        if (letters[thread] > 0) loads_us[thread] += each * letters[thread] * problem.weight_us(task, thread);
}

// The heaviest on their best kinds first; replicable ones, which may fill what is left, behind the others.
std::vector<std::size_t> heaviest_first(const PackingProblem& problem) {
    std::vector<std::size_t> order(problem.tasks());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto weight = [&](std::size_t task) { return *std::ranges::min_element(problem.weights_us[task]); };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        if (problem.replicable[a] != problem.replicable[b]) return !problem.replicable[a];
        return weight(a) > weight(b);
    });
    return order;
}

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
            if (i % kCountedAnew == 0) count_anew();
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

/// All packings, as far as they may be better than the best one known. What all tasks that are not packed yet
/// cost at least must fit what all threads are worth.
class EveryPacking {
  public:
    EveryPacking(const PackingProblem& problem, Packing& best)
        : problem_(problem), best_(best), order_(heaviest_first(problem)), tasks_(problem.tasks()) {
        rest_.assign(problem.tasks() + 1, 0.0);
        for (std::size_t i = problem.tasks(); i-- > 0;) rest_[i] = rest_[i + 1] + least_price(order_[i]);
        replicated_ = choices(problem.most_letters);
        sequential_ = choices(1);
    }

    bool search() {
        if (replicated_.empty()) return false;
        return place(0, std::vector<double>(problem_.threads(), 0.0), 0);
    }

  private:
    static constexpr std::size_t kMostChoices = 5000;
    static constexpr double kMostSteps = 2'000'000;

    double least_price(std::size_t task) const {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t kind = 0; kind < problem_.prices.size(); ++kind)
            if (const double weight_us = problem_.weights_us[task][kind]; !std::isinf(weight_us))
                least = std::min(least, problem_.prices[kind] * weight_us);
        return least;
    }

    // All letters up to so many that have no common divisor; none where they are too many.
    std::vector<Letters> choices(std::size_t most_letters) const {
        std::vector<Letters> found;
        Letters letters(problem_.threads(), 0);
        const auto add = [&](auto&& self, std::size_t thread, std::size_t left) -> void {
            if (found.size() > kMostChoices) return;
            if (thread == letters.size()) {
                const int divisor = std::accumulate(letters.begin(), letters.end(), 0,
                                                    [](int a, int b) { return std::gcd(a, b); });
                if (divisor == 1) found.push_back(letters);
                return;
            }
            for (std::size_t count = 0; count <= left; ++count) {
                letters[thread] = static_cast<std::uint8_t>(count);
                self(self, thread + 1, left - count);
            }
            letters[thread] = 0;
        };
        add(add, 0, most_letters);
        if (found.size() > kMostChoices) found.clear();
        return found;
    }

    // Of threads that are alike so far the first has most letters.
    bool is_first_alike(const Letters& letters, const std::vector<double>& loads_us) const {
        for (std::size_t a = 0; a + 1 < letters.size(); ++a)
            for (std::size_t b = a + 1; b < letters.size() && problem_.kinds[b] == problem_.kinds[a]; ++b)
                if (loads_us[a] == loads_us[b] && letters[a] < letters[b]) return false;
        return true;
    }

    // False when there is no time to know.
    bool place(std::size_t at, const std::vector<double>& loads_us, double priced) {
        if (best_.period_us <= problem_.bound_us) return true;
        if (at == order_.size()) {
            best_ = {tasks_, busiest(loads_us)};
            return true;
        }
        const std::size_t task = order_[at];
        for (const Letters& letters : problem_.replicable[task] ? replicated_ : sequential_) {
            if (++steps_ > most_steps_) return false;
            if (!may_have(problem_, task, letters) || !is_first_alike(letters, loads_us)) continue;
            std::vector<double> then_us = loads_us;
            add_load(problem_, task, letters, 1, then_us);
            double price = 0;
            for (std::size_t thread = 0; thread < letters.size(); ++thread)
                price += (then_us[thread] - loads_us[thread]) * problem_.prices[problem_.kinds[thread]];
            if (!may_be_better(then_us, priced + price + rest_[at + 1])) continue;
            tasks_[task] = letters;
            if (!place(at + 1, then_us, priced + price)) return false;
        }
        return true;
    }

    bool may_be_better(const std::vector<double>& loads_us, double least_us) const {
        const double most_us = best_.period_us * (1 - kPackingRounding);
        return busiest(loads_us) < most_us && least_us < most_us;
    }

    const PackingProblem& problem_;
    Packing& best_;
    std::vector<std::size_t> order_;
    std::vector<double> rest_;  // [i]: what the tasks from order_[i] on cost at least
    std::vector<Letters> replicated_;
    std::vector<Letters> sequential_;
    std::vector<Letters> tasks_;
    std::size_t steps_ = 0;
    std::size_t most_steps_ = static_cast<std::size_t>(kMostSteps * problem_.effort);
};

}  // namespace

std::vector<double> loads_of(const PackingProblem& problem, const std::vector<Letters>& tasks) {
    std::vector<double> loads_us(problem.threads(), 0.0);
    for (std::size_t task = 0; task < tasks.size(); ++task) add_load(problem, task, tasks[task], 1, loads_us);
    return loads_us;
}

Packing greedy_packing(const PackingProblem& problem) {
    Packing packing{std::vector<Letters>(problem.tasks()), 0};
    std::vector<double> loads_us(problem.threads(), 0.0);
    for (const std::size_t task : heaviest_first(problem)) {
        std::size_t best = 0;
        const auto then = [&](std::size_t thread) {
            return loads_us[thread] + problem.weight_us(task, thread);
        };
        for (std::size_t thread = 1; thread < problem.threads(); ++thread)
            if (then(thread) < then(best)) best = thread;
        packing.tasks[task] = only(problem, best);
        add_load(problem, task, packing.tasks[task], 1, loads_us);
    }
    packing.period_us = busiest(loads_us);
    return packing;
}

Packing annealed(const PackingProblem& problem, Packing packing) {
    return Annealing(problem, std::move(packing)).search();
}

bool make_exact(const PackingProblem& problem, Packing& packing) {
    return EveryPacking(problem, packing).search();
}

void join_neighbours(const PackingProblem& problem, Packing& packing) {
    const double most_us = packing.period_us * (1 + kPackingRounding);
    const auto joins = [&](std::size_t task, std::size_t neighbour) {
        const Letters before = packing.tasks[task];
        const Letters& there = packing.tasks[neighbour];
        if (before == there || !may_have(problem, task, there)) return;
        packing.tasks[task] = there;
        if (busiest(loads_of(problem, packing.tasks)) > most_us) packing.tasks[task] = before;
    };
    for (std::size_t task = 0; task < problem.tasks(); ++task) {
        if (task > 0) joins(task, task - 1);
        const bool is_with_last = task > 0 && packing.tasks[task] == packing.tasks[task - 1];
        if (!is_with_last && task + 1 < problem.tasks()) joins(task, task + 1);
    }
}

}  // namespace tidemill::internal
