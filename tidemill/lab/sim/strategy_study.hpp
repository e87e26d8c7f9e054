#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/lab/sim/random_chain.hpp"
#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill {

/// Results of a strategy for each chain of a study, in the order of the chains.
struct StrategyResults {
    std::string strategy;
    std::vector<double> slowdown;  ///< period / optimal period
    std::vector<double> big;       ///< cores used
    std::vector<double> little;

    /// Share of the chains with a slowdown of at most `limit`.
    double share_within(double limit) const;
};

/// Schedules `chains` random chains by every strategy on a platform with big and little cores; HeRAD is what
/// the others are compared with. The same seed gives the same chains whatever the platform.
std::vector<StrategyResults> study_strategies(const ChainLaw& law, const Platform& platform,
                                              std::size_t chains, std::uint64_t seed);

/// A statistic of a sample, and how far that of another sample of the law may be off, as a standard
/// deviation.
struct Estimate {
    double value = 0;
    double standard_error = 0;
};

/// Mean of a sample.
Estimate mean_of(const std::vector<double>& sample);

/// Median of a sample (the mean of the two in the middle), its error from the order statistics around it.
Estimate median_of(std::vector<double> sample);

/// Share of `sample` that holds, from 0 to 1, its error as if one more chain had gone either way.
Estimate share_of(std::size_t holds, std::size_t sample);

/// A number that was published: rounded to steps of `rounding`, of a sample of that size.
struct PublishedEstimate {
    double value = 0;
    double rounding = 0;
    std::size_t sample = 1000;
};

/// Whether our number, of a sample of that size, differs from theirs by no more than three standard errors of
/// the difference, and rounding.
bool agrees(const Estimate& ours, std::size_t sample, const PublishedEstimate& theirs);

}  // namespace tidemill
