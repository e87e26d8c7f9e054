#include "tidemill/steer/internal/crowd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tidemill::steer::internal {

namespace {

constexpr double kLeastDemand = 1e-3;
constexpr double kNoCores = -1e6;
constexpr double kBrokenPromise = 100;

/// A number of a snapshot, whatever its maker divided by.
double within(double number, double least, double most, double otherwise) {
    return std::isfinite(number) ? std::clamp(number, least, most) : otherwise;
}

double factor_of(const ThreadState& thread, const Snapshot& snapshot, std::size_t kind) {
    const bool known =
        kind < thread.factors.size() && thread.factors[kind].quality != bridge::Quality::absent;
    const double factor = known ? thread.factors[kind].value : snapshot.kinds[kind].usual_factor;
    return within(factor, 1e-3, 1e3, 1);
}

}  // namespace

Crowd::Crowd(const Snapshot& snapshot, const Settings& settings)
    : promised_(settings.fair ? 1 / (1 + within(*settings.fair, 0, 1e3, 0)) : 0),
      look_ahead_(settings.fair_look_ahead) {
    for (const KindOfCores& kind : snapshot.kinds) cores_.push_back(kind.cores);
    traits_.reserve(snapshot.threads.size());
    places_.reserve(snapshot.threads.size() * snapshot.kinds.size());
    for (const ThreadState& thread : snapshot.threads) add(thread, snapshot);
    find_speeds_alone(snapshot);
}

void Crowd::add(const ThreadState& thread, const Snapshot& snapshot) {
    const double weight = within(thread.weight, 1e-3, 1e3, 1);
    const double demand = within(thread.demand, kLeastDemand, 1, 1);
    const double factor_here =
        kinds() == 0 ? 1 : factor_of(thread, snapshot, thread.kind < kinds() ? thread.kind : 0);
    const bool is_limited = demand >= kLimitedDemand;
    const bool is_greedy = is_limited && !thread.work;  // would take all of any core
    const double work =
        within(thread.work.value_or(is_limited ? 1 : demand / factor_here), kLeastDemand, 1, 1);
    traits_.push_back({weight, std::log(weight), weight * work, within(thread.received, 0, 1e3, 1)});
    for (std::size_t kind = 0; kind < kinds(); ++kind) {
        const double factor = factor_of(thread, snapshot, kind);
        const double want = is_greedy ? 1 : std::clamp(work * factor, kLeastDemand, 1.0);
        places_.push_back({want, std::log(want), std::log(factor), 1 / factor});
    }
}

bool Crowd::is_owed(std::size_t thread) const {
    return shortage(thread, traits_[thread].received * traits_[thread].alone) > 0;
}

// By what part a thread will be short of what it is promised if it goes on at this speed for a while.
double Crowd::shortage(std::size_t thread, double speed) const {
    const Traits& traits = traits_[thread];
    if (promised_ == 0 || traits.alone <= 0) return 0;
    const double soon = traits.received + look_ahead_ * (speed / traits.alone - traits.received);
    return std::max(0.0, promised_ - soon);
}

template <class Want>
double Crowd::level(double cores, std::span<const std::uint32_t> members, const Want& want) const {
    double level = 0;
    for (std::size_t pass = 0; pass <= members.size(); ++pass) {
        double left = cores;
        double weight = 0;
        for (const std::uint32_t thread : members) {
            if (want(thread) <= level * traits_[thread].weight) {
                left -= want(thread);
            } else {
                weight += traits_[thread].weight;
            }
        }
        if (weight == 0) return std::numeric_limits<double>::infinity();
        const double next = left / weight;
        if (next <= level) break;
        level = next;
    }
    return level;
}

Value Crowd::value(std::size_t kind, std::span<const std::uint32_t> members) const {
    Value value;
    if (cores(kind) == 0) {
        for (const std::uint32_t thread : members) value.speed += kNoCores * worth(thread);
        return value;
    }
    const double per_weight =
        level(cores(kind), members, [&](std::uint32_t thread) { return place(thread, kind).want; });
    const double log_per_weight = std::log(per_weight);
    for (const std::uint32_t thread : members) {
        const Place& here = place(thread, kind);
        const Traits& traits = traits_[thread];
        const double log_share = std::min(here.log_want, log_per_weight + traits.log_weight);
        value.speed += traits.worth * (log_share - here.log_factor);
        if (promised_ == 0) continue;
        const double share = std::min(here.want, per_weight * traits.weight);
        value.promises -= kBrokenPromise * traits.worth * shortage(thread, share * here.speed_per_share);
    }
    return value;
}

std::vector<double> Crowd::speeds(std::size_t kind, std::span<const std::uint32_t> members) const {
    std::vector<double> speeds(members.size());
    if (cores(kind) == 0) return speeds;
    const double per_weight =
        level(cores(kind), members, [&](std::uint32_t thread) { return place(thread, kind).want; });
    std::ranges::transform(members, speeds.begin(), [&](std::uint32_t thread) {
        const Place& here = place(thread, kind);
        return std::min(here.want, per_weight * traits_[thread].weight) * here.speed_per_share;
    });
    return speeds;
}

void Crowd::find_speeds_alone(const Snapshot& snapshot) {
    const double all_cores = std::reduce(cores_.begin(), cores_.end());
    if (all_cores == 0) return;
    std::vector<std::uint32_t> everybody(threads());
    std::iota(everybody.begin(), everybody.end(), 0U);
    const auto wanted = [&](std::uint32_t thread) {
        return within(snapshot.threads[thread].demand, kLeastDemand, 1, 1);
    };
    const double per_weight = level(all_cores, everybody, wanted);
    for (const std::uint32_t thread : everybody) {
        double speed_per_share = 0;
        for (std::size_t kind = 0; kind < kinds(); ++kind)
            speed_per_share += cores(kind) / all_cores * place(thread, kind).speed_per_share;
        const double share = std::min(wanted(thread), per_weight * traits_[thread].weight);
        traits_[thread].alone = share * speed_per_share;
    }
}

}  // namespace tidemill::steer::internal
