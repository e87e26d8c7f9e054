#include "tidemill/run/job/trials.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tidemill {

namespace {

constexpr double kFirstSeconds = 0.006;
constexpr int kRounds = 4;
constexpr std::size_t kTurnsInRound = 2;
constexpr double kClearlySlower = 1.1;
constexpr double kNotClearlyFaster = 0.98;  // as noise is

}  // namespace

Trials::Trials(std::size_t candidates) : told_(candidates), left_(candidates) {
    std::iota(left_.begin(), left_.end(), std::size_t{0});
}

std::optional<Trials::Turn> Trials::next() const {
    if (left_.size() < 2 || round_ == kRounds) return std::nullopt;
    return Turn{left_[turn_ % left_.size()], std::ldexp(kFirstSeconds, round_)};
}

void Trials::tell(double period_us) {
    told_[left_[turn_ % left_.size()]].push_back({period_us, round_});
    if (++turn_ == kTurnsInRound * left_.size()) end_round();
}

void Trials::end_round() {
    double best_us = mean_of_round(left_.front());
    for (const std::size_t candidate : left_) best_us = std::min(best_us, mean_of_round(candidate));
    std::erase_if(left_,
                  [&](std::size_t candidate) { return mean_of_round(candidate) > kClearlySlower * best_us; });
    turn_ = 0;
    ++round_;
}

double Trials::mean_of_round(std::size_t candidate) const {
    double sum_us = 0;
    double turns = 0;
    for (const Told& told : told_[candidate]) {
        if (told.round != round_) continue;
        sum_us += told.period_us;
        turns += 1;
    }
    return sum_us / turns;
}

std::size_t Trials::best() const {
    std::size_t best = left_.front();
    for (const std::size_t candidate : left_) {
        const auto here = periods(candidate);
        if (here && here->mean_us < kNotClearlyFaster * periods(best)->mean_us) best = candidate;
    }
    return best;
}

std::optional<Trials::Periods> Trials::periods(std::size_t candidate) const {
    const std::vector<Told>& told = told_[candidate];
    if (told.empty()) return std::nullopt;
    Periods periods{.least_us = told.front().period_us};
    double weights = 0;
    for (const Told& each : told) {
        const double weight = std::ldexp(1.0, each.round);
        weights += weight;
        periods.mean_us += weight * each.period_us;
        periods.least_us = std::min(periods.least_us, each.period_us);
        periods.most_us = std::max(periods.most_us, each.period_us);
    }
    periods.mean_us /= weights;
    return periods;
}

}  // namespace tidemill
