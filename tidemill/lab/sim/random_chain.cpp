#include "tidemill/lab/sim/random_chain.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tidemill {

Chain random_chain(std::mt19937_64& random, const ChainLaw& law) {
    std::uniform_int_distribution weight(1, law.heaviest);
    std::uniform_real_distribution slowdown(1.0, law.slowest);
    Chain chain{{"big", "little"}, {}};
    std::vector<bool> replicable(law.tasks);
    // Decimal shares such as 0.2 are a little more than what they stand for.
    const double stateless = law.stateless * static_cast<double>(law.tasks) - 1e-9;
    std::fill_n(replicable.begin(), static_cast<std::size_t>(std::ceil(stateless)), true);
    std::shuffle(replicable.begin(), replicable.end(), random);
    for (std::size_t i = 0; i < law.tasks; ++i) {
        const int big = weight(random);
        const double little = std::ceil(big * slowdown(random));
        chain.tasks.push_back({fmt::format("t{}", i + 1), replicable[i], {static_cast<double>(big), little}});
    }
    return chain;
}

}  // namespace tidemill
