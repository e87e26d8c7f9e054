#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tidemill/scheduling/static/packing/packing.hpp"
#include "tidemill/scheduling/static/packing/packing_moves.hpp"

namespace tidemill::internal {
namespace {

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

    // The first of threads that are alike so far has most letters.
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

bool make_exact(const PackingProblem& problem, Packing& packing) {
    return EveryPacking(problem, packing).search();
}

}  // namespace tidemill::internal
