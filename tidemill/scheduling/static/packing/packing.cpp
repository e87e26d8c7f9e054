#include "tidemill/scheduling/static/packing/packing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "tidemill/scheduling/static/packing/packing_moves.hpp"

namespace tidemill::internal {
namespace {

// Words have whole cores: threads with halves go in turn, on one kind.
bool is_word(const PackingProblem& problem, const Letters& letters) {
    std::optional<std::size_t> halves;
    bool has_others = false;
    for (std::size_t thread = 0; thread < letters.size(); ++thread) {
        if (letters[thread] == 0) continue;
        const std::size_t kind = problem.kinds[thread];
        const bool is_half = problem.halves[kind];
        if (is_half && (letters[thread] > 1 || halves.value_or(kind) != kind)) return false;
        if (is_half) halves = kind;
        has_others |= !is_half;
    }
    return !halves || !has_others;
}

}  // namespace

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
    return is_word(problem, letters);
}

double slowest_us(const PackingProblem& problem, std::size_t task, const Letters& letters) {
    double most_us = 0;
    for (std::size_t thread = 0; thread < letters.size(); ++thread)
        if (letters[thread] > 0) most_us = std::max(most_us, problem.weight_us(task, thread));
    return most_us;
}

void add_load(const PackingProblem& problem, std::size_t task, const Letters& letters, double sign,
              std::vector<double>& loads_us) {
    const double each = sign / letters_in(letters);
    for (std::size_t thread = 0; thread < letters.size(); ++thread)
        if (letters[thread] > 0) loads_us[thread] += each * letters[thread] * problem.weight_us(task, thread);
}

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

void shorten_frames(const PackingProblem& problem, Packing& packing, double most_us) {
    std::vector<double> loads_us = loads_of(problem, packing.tasks);
    const auto gets_shorter = [&](std::size_t task, std::size_t thread) {
        Letters& letters = packing.tasks[task];
        const double now_us = slowest_us(problem, task, letters);
        if (!(problem.weight_us(task, thread) < now_us * (1 - kPackingRounding))) return false;
        std::vector<double> then_us = loads_us;
        add_load(problem, task, letters, -1, then_us);
        add_load(problem, task, only(problem, thread), 1, then_us);
        if (busiest(then_us) > most_us * (1 + kPackingRounding)) return false;
        letters = only(problem, thread);
        loads_us = std::move(then_us);
        return true;
    };
    for (bool helps = true; helps;) {
        helps = false;
        for (std::size_t task = 0; task < problem.tasks(); ++task)
            for (std::size_t thread = 0; thread < problem.threads(); ++thread)
                helps |= gets_shorter(task, thread);
    }
    packing.period_us = busiest(loads_us);
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
