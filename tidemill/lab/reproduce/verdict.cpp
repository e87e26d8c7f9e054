#include "tidemill/lab/reproduce/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tidemill::cli {

Cell to_cell(Verdict verdict) {
    if (verdict == Verdict::cannot_tell) return "cannot tell";
    return verdict == Verdict::yes ? "yes" : "no";
}

Verdict yes_if(bool reproduces) {
    return reproduces ? Verdict::yes : Verdict::no;
}

Verdict agrees_within(double part, const Cell& ours, const Cell& published) {
    const auto* const one = std::get_if<double>(&ours);
    const auto* const other = std::get_if<double>(&published);
    if (one == nullptr || other == nullptr) return Verdict::cannot_tell;
    return yes_if(std::abs(*one - *other) <= part * std::abs(*other));
}

void add_verdicts(ResultTable& table, const std::string& rule,
                  const std::function<Verdict(const std::vector<Cell>&)>& judge) {
    for (std::vector<Cell>& row : table.rows) row.push_back(to_cell(judge(row)));
    table.columns.push_back({kReproduces});
    table.notes.push_back(std::string(kReproduces) + ": " + rule);
}

void add_no_verdicts(ResultTable& table, const std::string& why) {
    add_verdicts(table, "cannot tell: " + why, [](const auto&) { return Verdict::cannot_tell; });
}

Interval interval_of(std::vector<double> rounds) {
    std::ranges::sort(rounds);
    return {rounds[1], rounds[rounds.size() - 2]};
}

std::vector<double> ratios_of(const std::vector<double>& rounds, const std::vector<double>& baseline) {
    std::vector<double> ratios(rounds.size());
    std::ranges::transform(rounds, baseline, ratios.begin(), std::divides<>());
    return ratios;
}

Verdict is_below(const Interval& interval, double limit) {
    if (interval.most < limit) return Verdict::yes;
    return interval.least < limit ? Verdict::cannot_tell : Verdict::no;
}

}  // namespace tidemill::cli
