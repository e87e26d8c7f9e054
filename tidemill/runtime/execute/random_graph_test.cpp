#include <doctest/doctest.h>

#include "tidemill/runtime/testing/random_runs.hpp"

TEST_CASE("random graphs under random schedules do to the bit what they mean, and end with the same error") {
    tidemill::internal::check_random_programs(1, 150, 3);
}

TEST_CASE("random graphs do so with stages that have several batches done elsewhere at a time") {
    tidemill::internal::check_random_programs(300000, 60, 3, tidemill::internal::Batches::some);
}
