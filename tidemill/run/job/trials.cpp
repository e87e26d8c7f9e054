#include "tidemill/run/job/trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tidemill {

namespace {

constexpr double kFirstSeconds = 0.006;
constexpr int kRounds = 4;
constexpr std::size_t kTurnsInRound = 2;
constexpr double kClearlySlower = 1.1;
constexpr double kNotClearlyFaster = 0.995;  // a larger margin would be lost where it is no noise

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
    double best_us = least_of_round(left_.front(), round_);
    for (const std::size_t candidate : left_) best_us = std::min(best_us, least_of_round(candidate, round_));
    std::erase_if(left_, [&](std::size_t candidate) {
        return least_of_round(candidate, round_) > kClearlySlower * best_us;
    });
    turn_ = 0;
    ++round_;
}

// What disturbs a turn only makes it longer: other programs, and the first touch of memory.
double Trials::least_of_round(std::size_t candidate, int round) const {
    double least_us = std::numeric_limits<double>::infinity();
    for (const Told& told : told_[candidate])
        if (told.round == round) least_us = std::min(least_us, told.period_us);
    return least_us;
}

double Trials::undisturbed_us(std::size_t candidate) const {
    double sum_us = 0;
    double weights = 0;
    for (int round = 0; round <= told_[candidate].back().round; ++round) {
        const double weight = std::ldexp(1.0, round);
        sum_us += weight * least_of_round(candidate, round);
        weights += weight;
    }
    return sum_us / weights;
}

std::size_t Trials::best() const {
    std::size_t best = left_.front();
    if (round_ == 0) return best;
    for (const std::size_t candidate : left_)
        if (undisturbed_us(candidate) < kNotClearlyFaster * undisturbed_us(best)) best = candidate;
    return best;
}

std::optional<Trials::Periods> Trials::periods(std::size_t candidate) const {
    const std::vector<Told>& told = told_[candidate];
    if (told.empty()) return std::nullopt;
    Periods periods{.undisturbed_us = undisturbed_us(candidate), .least_us = told.front().period_us};
    for (const Told& each : told) {
        periods.least_us = std::min(periods.least_us, each.period_us);
        periods.most_us = std::max(periods.most_us, each.period_us);
    }
    return periods;
}

}  // namespace tidemill
