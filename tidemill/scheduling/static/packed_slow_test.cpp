#include "tidemill/scheduling/static/testing/packing_checks.hpp"

namespace tidemill {

TEST_CASE("threads with several stages equal trying every packing in 3,000 cases") {
    internal::compare_with_every_packing({.max_tasks = 7, .kinds = 3, .max_cores = 2}, 1'500, 4, 1);
    internal::compare_with_every_packing({.max_tasks = 5, .kinds = 2, .max_cores = 2}, 1'350, 4, 4);
    internal::compare_with_every_packing({.max_tasks = 4, .kinds = 3, .max_cores = 1, .nowhere_of_ten = 2},
                                         150, 3, 6);
}

}  // namespace tidemill
