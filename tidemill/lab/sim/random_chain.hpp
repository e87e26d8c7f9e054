#pragma once

#include <cstddef>
#include <random>

#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill {

/// Law of random chains; the default is that of the published simulations.
struct ChainLaw {
    std::size_t tasks = 20;
    double stateless = 0.5;  ///< share of replicable tasks, rounded up to whole tasks
    int heaviest = 100;      ///< weights on big cores are whole and uniform from 1 to this
    double slowest = 5;      ///< little cores take uniformly 1 to this many times as long, rounded up
};

/// The next random chain, on kinds "big" and "little".
Chain random_chain(std::mt19937_64& random, const ChainLaw& law);

}  // namespace tidemill
