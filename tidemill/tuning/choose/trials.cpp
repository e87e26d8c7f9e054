#include "tidemill/tuning/choose/trials.hpp"

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

// Where the source sets the pace, turns lose no time, and samples come in pieces; more threads than are
// needed gain nothing but room.
constexpr double kPacedSeconds = 0.05;
constexpr int kPacedRounds = 2;
constexpr double kNotClearlyIdler = 0.95;

constexpr double kForeverUs = std::numeric_limits<double>::infinity();

}  // namespace

Trials::Trials(std::size_t candidates, bool looking_is_cheap)
    : looking_is_cheap_(looking_is_cheap), told_(candidates), left_(candidates) {
    std::iota(left_.begin(), left_.end(), std::size_t{0});
}

std::optional<Trials::Turn> Trials::next() const {
    if (left_.size() < 2 || round_ == (source_sets_pace_ ? kPacedRounds : kRounds)) return std::nullopt;
    const std::size_t candidate = left_[turn_ % left_.size()];
    if (source_sets_pace_) return Turn{candidate, kPacedSeconds, true};
    const bool looks = turn_ < left_.size() && (round_ == 0 || looking_is_cheap_);
    return Turn{candidate, std::ldexp(kFirstSeconds, round_), looks};
}

void Trials::tell(const Came& came) {
    if (came.source_waits && !source_sets_pace_) return begin_by_busiest();
    told_[left_[turn_ % left_.size()]].push_back({came, round_});
    if (++turn_ == kTurnsInRound * left_.size()) end_round();
}

// Results before are of turns that nobody looked at, or that found more samples waiting.
void Trials::begin_by_busiest() {
    *this = Trials(told_.size(), looking_is_cheap_);
    source_sets_pace_ = true;
}

void Trials::end_round() {
    if (source_sets_pace_) leave_out(&Came::period_us, least_of_paced());
    double best_us = kForeverUs;
    for (const std::size_t candidate : left_)
        best_us = std::min(best_us, least_of_round(candidate, round_, measure()));
    leave_out(measure(), best_us);
    turn_ = 0;
    ++round_;
}

void Trials::leave_out(Measure measure, double least_us) {
    std::erase_if(left_, [&](std::size_t candidate) {
        return least_of_round(candidate, round_, measure) > kClearlySlower * least_us;
    });
}

// Least of this round's turns whose source waited: others may have had samples waiting for them.
double Trials::least_of_paced() const {
    double least_us = kForeverUs;
    for (const std::size_t candidate : left_)
        for (const Told& told : told_[candidate])
            if (told.round == round_ && told.source_waits) least_us = std::min(least_us, told.period_us);
    return least_us;
}

// Disturbances only make a turn longer: other programs, and the first touch of memory.
double Trials::least_of_round(std::size_t candidate, int round, Measure measure) const {
    double least_us = kForeverUs;
    for (const Told& told : told_[candidate])
        if (told.round == round) least_us = std::min(least_us, told.*measure);
    return least_us;
}

double Trials::undisturbed_us(std::size_t candidate, Measure measure) const {
    double sum_us = 0;
    double weights = 0;
    for (int round = 0; round <= told_[candidate].back().round; ++round) {
        const double weight = std::ldexp(1.0, round);
        sum_us += weight * least_of_round(candidate, round, measure);
        weights += weight;
    }
    return sum_us / weights;
}

std::size_t Trials::best() const {
    std::size_t best = left_.front();
    if (round_ == 0) return best;
    const double margin = source_sets_pace_ ? kNotClearlyIdler : kNotClearlyFaster;
    for (const std::size_t candidate : left_)
        if (undisturbed_us(candidate, measure()) < margin * undisturbed_us(best, measure())) best = candidate;
    return best;
}

std::optional<Trials::Periods> Trials::periods(std::size_t candidate) const {
    const std::vector<Told>& told = told_[candidate];
    if (told.empty()) return std::nullopt;
    Periods periods{.undisturbed_us = undisturbed_us(candidate, &Came::period_us),
                    .least_us = told.front().period_us};
    for (const Told& each : told) {
        periods.least_us = std::min(periods.least_us, each.period_us);
        periods.most_us = std::max(periods.most_us, each.period_us);
    }
    if (source_sets_pace_) periods.busiest_us = undisturbed_us(candidate, &Came::busiest_us);
    return periods;
}

}  // namespace tidemill
