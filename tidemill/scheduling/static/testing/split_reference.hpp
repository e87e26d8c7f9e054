#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tidemill/scheduling/static/internal/reference.hpp"

namespace tidemill::internal {

/// The textbook's simplex method on a dense tableau: the largest c x with A x <= b and x >= 0, where b >= 0.
/// Bland's rule, so it ends.
class DenseSimplex {
  public:
    DenseSimplex(std::size_t variables, const std::vector<long double>& objective) : variables_(variables) {
        rows_.push_back(objective);
        for (long double& entry : rows_[0]) entry = -entry;
    }

    void limit(const std::vector<long double>& coefficients, long double most) {
        rows_.push_back(coefficients);
        most_.push_back(most);
    }

    long double best() {
        add_slacks();
        for (;;) {
            const auto entering = std::ranges::find_if(rows_[0].begin(), rows_[0].end() - 1,
                                                       [](long double entry) { return entry < -kZero; });
            if (entering == rows_[0].end() - 1) return rows_[0].back();
            const auto column = static_cast<std::size_t>(entering - rows_[0].begin());
            pivot(leaving(column), column);
        }
    }

  private:
    static constexpr long double kZero = 1e-12L;

    void add_slacks() {
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            rows_[row].resize(variables_ + most_.size() + 1, 0);
            if (row == 0) continue;
            rows_[row][variables_ + row - 1] = 1;
            rows_[row].back() = most_[row - 1];
            basis_.push_back(variables_ + row - 1);
        }
    }

    std::size_t leaving(std::size_t column) const {
        std::size_t found = 0;
        for (std::size_t row = 1; row < rows_.size(); ++row) {
            if (rows_[row][column] <= kZero) continue;
            if (found == 0 || before(row, found, column)) found = row;
        }
        return found;
    }

    bool before(std::size_t a, std::size_t b, std::size_t column) const {
        const long double difference =
            rows_[a].back() / rows_[a][column] - rows_[b].back() / rows_[b][column];
        return difference < 0 || (difference == 0 && basis_[a - 1] < basis_[b - 1]);
    }

    void pivot(std::size_t row, std::size_t column) {
        const long double pivot = rows_[row][column];
        for (long double& entry : rows_[row]) entry /= pivot;
        for (std::size_t other = 0; other < rows_.size(); ++other) {
            const long double factor = rows_[other][column];
            if (other == row || factor == 0) continue;
            for (std::size_t i = 0; i < rows_[row].size(); ++i) rows_[other][i] -= factor * rows_[row][i];
        }
        basis_[row - 1] = column;
    }

    std::size_t variables_;
    std::vector<std::vector<long double>> rows_;  // the objective's first, the right side last in each
    std::vector<long double> most_;
    std::vector<std::size_t> basis_;
};

/// The least period of freely split work, by the dual programme written down whole: a value for each task, at
/// most its price on every kind, where a task pays the kind's price and, when sequential, its own; all cores
/// and all sequential tasks together cost 1.
inline double least_period_by_dual(const Instance& instance) {
    const std::size_t tasks = instance.size();
    const std::size_t kinds = instance.cores.size();
    std::vector<long double> objective(2 * tasks + kinds, 0);  // values, prices of tasks, prices of kinds
    std::fill_n(objective.begin(), tasks, 1);
    DenseSimplex simplex(objective.size(), objective);
    std::uint64_t unit = 1;  // the heaviest weight, so that numbers stay near 1
    for (const auto& weights : instance.weights)
        for (const std::uint64_t weight : weights)
            if (weight != kNowhere) unit = std::max(unit, weight);
    std::vector<long double> prices(objective.size(), 0);
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        prices[2 * tasks + kind] = instance.cores[kind];
        for (std::size_t task = 0; instance.cores[kind] > 0 && task < tasks; ++task) {
            if (instance.weights[kind][task] == kNowhere) continue;
            const long double weight =
                static_cast<long double>(instance.weights[kind][task]) / static_cast<long double>(unit);
            std::vector<long double> at_most(objective.size(), 0);
            at_most[task] = 1;
            at_most[2 * tasks + kind] = -weight;
            if (!instance.replicable[task]) at_most[tasks + task] = -weight;
            simplex.limit(at_most, 0);
        }
    }
    for (std::size_t task = 0; task < tasks; ++task) prices[tasks + task] = 1;
    simplex.limit(prices, 1);
    return static_cast<double>(simplex.best() * static_cast<long double>(unit));
}

}  // namespace tidemill::internal
