#include "tidemill/lab/reproduce/verdict.hpp"

#include <algorithm>
#include <functional>

namespace tidemill::cli {

Cell to_cell(Verdict verdict) {
    if (verdict == Verdict::cannot_tell) return "cannot tell";
    return verdict == Verdict::yes ? "yes" : "no";
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
