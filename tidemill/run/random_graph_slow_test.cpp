#include <doctest/doctest.h>

#include "tidemill/run/detail_random_runs.hpp"

TEST_CASE("thousands of random graphs under random schedules do to the bit what they mean") {
    tidemill::detail::check_random_programs(100000, 3000, 4);
}
