#include "tidemill/scheduling/static/testing/packing_checks.hpp"

namespace tidemill {

TEST_CASE("threads with several stages equal trying every packing in 3,000 cases") {
    internal::compare_with_every_packing({.max_tasks = 7, .kinds = 3, .max_cores = 2}, 1'500, 4, 1);
    internal::compare_with_every_packing({.max_tasks = 5, .kinds = 2, .max_cores = 2}, 1'350, 4, 4);
    internal::compare_with_every_packing({.max_tasks = 4, .kinds = 3, .max_cores = 1, .nowhere_of_ten = 2},
                                         150, 3, 6);
}

// Five seconds of a core. The order of periods does not depend on the effort.
TEST_CASE("no strategy is slower than one that it contains, on up to 16 cores of each of three kinds") {
    internal::compare_strategies(10'000, 16, 0.002, 52);
    internal::compare_strategies(100, 16, 1, 53);
}

}  // namespace tidemill
