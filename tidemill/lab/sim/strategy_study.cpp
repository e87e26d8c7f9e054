#include "tidemill/lab/sim/strategy_study.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tidemill/scheduling/static/interruption.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

namespace tidemill {

namespace {

double cores_of(const Schedule& schedule, std::string_view kind) {
    double cores = 0;
    for (const Stage& stage : schedule.stages) cores += stage.core_kind == kind ? stage.threads : 0;
    return cores;
}

}  // namespace

double StrategyResults::share_within(double limit) const {
    const auto count = std::ranges::count_if(slowdown, [=](double each) { return each <= limit; });
    return static_cast<double>(count) / static_cast<double>(slowdown.size());
}

std::vector<StrategyResults> study_strategies(const ChainLaw& law, const Platform& platform,
                                              std::size_t chains, std::uint64_t seed) {
    std::vector<StrategyResults> results;
    for (const Strategy& each : published_strategies())
        results.push_back({std::string(each.name), {}, {}, {}});
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < chains; ++i) {
        interruption_point();
        const Chain chain = random_chain(random, law);
        const double best_us = period_us(strategy("herad").schedule(chain, platform), chain);
        for (std::size_t s = 0; s < results.size(); ++s) {
            const Schedule schedule = published_strategies()[s].schedule(chain, platform);
            results[s].slowdown.push_back(period_us(schedule, chain) / best_us);
            results[s].big.push_back(cores_of(schedule, "big"));
            results[s].little.push_back(cores_of(schedule, "little"));
        }
    }
    return results;
}

Estimate mean_of(const std::vector<double>& sample) {
    const double count = static_cast<double>(sample.size());
    const double mean = std::accumulate(sample.begin(), sample.end(), 0.0) / count;
    double squares = 0;
    for (const double each : sample) squares += (each - mean) * (each - mean);
    return {mean, std::sqrt(squares / std::max(count - 1, 1.0) / count)};
}

Estimate median_of(std::vector<double> sample) {
    std::ranges::sort(sample);
    const std::size_t count = sample.size();
    // The number of samples below the true median has a standard deviation of half the root of their count.
    const auto spread = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count)) / 2));
    const double low = sample[count / 2 - std::min(spread, count / 2)];
    const double high = sample[std::min(count / 2 + spread, count - 1)];
    return {(sample[(count - 1) / 2] + sample[count / 2]) / 2, (high - low) / 2};
}

Estimate share_of(std::size_t holds, std::size_t sample) {
    const double count = static_cast<double>(sample);
    const double fairer = (static_cast<double>(holds) + 1) / (count + 2);
    return {static_cast<double>(holds) / count, std::sqrt(fairer * (1 - fairer) / count)};
}

bool agrees(const Estimate& ours, std::size_t sample, const PublishedEstimate& theirs) {
    const double more_chains = static_cast<double>(sample) / static_cast<double>(theirs.sample);
    const double error = ours.standard_error * std::sqrt(1 + more_chains);
    return std::abs(ours.value - theirs.value) <= 3 * error + theirs.rounding / 2 + 1e-12;
}

}  // namespace tidemill
