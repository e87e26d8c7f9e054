#include <doctest/doctest.h>

#include "tidemill/scheduling/static/testing/cost_model_checks.hpp"

namespace tidemill {

using internal::compare_with_enumeration;

// More than 100,000 problems in all, each solved for every preference, a wanted period and the Pareto front.
TEST_CASE("a hundred thousand random problems equal enumeration") {
    compare_with_enumeration({.max_tasks = 5, .kinds = 2, .max_cores = 3}, {}, 40'000);
    compare_with_enumeration({.max_tasks = 5, .kinds = 1, .max_cores = 4}, {.costs = true}, 10'000);
    compare_with_enumeration({.max_tasks = 5, .kinds = 2, .max_cores = 3, .most_weight = 30}, {.costs = true},
                             20'000);
    compare_with_enumeration({.max_tasks = 4, .kinds = 3, .max_cores = 2, .most_weight = 30}, {.costs = true},
                             10'000);
    compare_with_enumeration({.max_tasks = 4, .kinds = 2, .max_cores = 3, .most_weight = 30},
                             {.slowdowns = true}, 10'000);
    compare_with_enumeration({.max_tasks = 3, .kinds = 2, .max_cores = 2, .most_weight = 30},
                             {.costs = true, .slowdowns = true, .shared_cores = true}, 15'000);
}

}  // namespace tidemill
