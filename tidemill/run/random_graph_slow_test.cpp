#include <doctest/doctest.h>

#include "tidemill/run/internal/random_runs.hpp"

TEST_CASE("thousands of random graphs under random schedules do to the bit what they mean") {
    tidemill::internal::check_random_programs(100000, 3000, 4);
}
