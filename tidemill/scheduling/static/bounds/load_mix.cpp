#include "tidemill/scheduling/static/bounds/load_mix.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tidemill::internal {
namespace {

constexpr double kBelowZero = -1e-13;  // a price below this is not a rounding error
constexpr double kLeastPivot = 1e-11;  // relative to the column's largest entry
constexpr int kMostIdlePools = 1000;   // in a row; only rounding errors would need more

}  // namespace

// Rows: for each pool, sum(share x load) + idle - height = 0; last, sum(share) = 1. The first basis has the
// first load, the height in the row of its highest pool, and the idle time of every other pool.
LoadMix::LoadMix(std::span<const double> first_load)
    : pools_(first_load.size()),
      unit_(*std::ranges::max_element(first_load)),
      highest_(static_cast<std::size_t>(std::ranges::max_element(first_load) - first_load.begin())),
      inverse_(pools_ + 1, std::vector<double>(pools_ + 1, 0.0)) {
    if (unit_ == 0) unit_ = 1;
    const std::vector<double> first = column_of(first_load);
    for (std::size_t pool = 0; pool < pools_; ++pool) {
        inverse_[pool][pool] = 1;
        inverse_[pool][highest_] = -1;
        inverse_[pool][pools_] = first[highest_] - (pool == highest_ ? 0 : first[pool]);
    }
    inverse_[pools_][pools_] = 1;
    enter_idle_pools();
}

void LoadMix::add(std::span<const double> load) {
    enter(column_of(load));
    enter_idle_pools();
}

std::vector<double> LoadMix::column_of(std::span<const double> load) const {
    std::vector<double> column;
    for (const double height : load) column.push_back(height / unit_);
    column.push_back(1);
    return column;
}

std::vector<double> LoadMix::in_basis(std::span<const double> column) const {
    std::vector<double> result;
    for (const auto& row : inverse_)
        result.push_back(std::inner_product(row.begin(), row.end(), column.begin(), 0.0));
    return result;
}

// Whether row a reaches 0 before row b, by its value and then by the other columns of its row.
bool LoadMix::leaves_before(std::size_t a, std::size_t b, const std::vector<double>& direction) const {
    const auto differ = [&](std::size_t column) {
        return inverse_[a][column] * direction[b] - inverse_[b][column] * direction[a];
    };
    if (const double by = differ(pools_); by != 0) return by < 0;
    for (std::size_t pool = 0; pool < pools_; ++pool)
        if (const double by = differ(pool); pool != highest_ && by != 0) return by < 0;
    return differ(highest_) < 0;
}

// The row that leaves for a column; past the end when none does.
std::size_t LoadMix::leaving(const std::vector<double>& direction) const {
    double largest = 0;
    for (const double entry : direction) largest = std::max(largest, std::abs(entry));
    std::size_t found = inverse_.size();
    for (std::size_t row = 0; row < inverse_.size(); ++row) {
        if (row == highest_ || direction[row] <= kLeastPivot * largest) continue;
        if (found == inverse_.size() || leaves_before(row, found, direction)) found = row;
    }
    return found;
}

void LoadMix::enter(std::span<const double> column) {
    const std::vector<double> direction = in_basis(column);
    const std::size_t out = leaving(direction);
    if (out == inverse_.size()) return;
    for (double& entry : inverse_[out]) entry /= direction[out];
    for (std::size_t row = 0; row < inverse_.size(); ++row)
        for (std::size_t i = 0; row != out && i < inverse_.size(); ++i)
            inverse_[row][i] -= direction[row] * inverse_[out][i];
}

// A pool whose price fell below 0 may stay partly idle.
void LoadMix::enter_idle_pools() {
    for (int i = 0; i < kMostIdlePools; ++i) {
        const std::span prices(inverse_[highest_].data(), pools_);  // with the opposite sign
        const auto dearest = std::ranges::max_element(prices);
        if (*dearest <= -kBelowZero) break;
        std::vector<double> column(pools_ + 1, 0.0);
        column[static_cast<std::size_t>(dearest - prices.begin())] = 1;
        enter(column);
    }
    prices_.clear();
    for (std::size_t pool = 0; pool < pools_; ++pool)
        prices_.push_back(std::max(0.0, -inverse_[highest_][pool]));
    const double sum = std::accumulate(prices_.begin(), prices_.end(), 0.0);
    for (double& price : prices_) price /= sum;
}

}  // namespace tidemill::internal
