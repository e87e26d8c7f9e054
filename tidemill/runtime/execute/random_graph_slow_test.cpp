#include <doctest/doctest.h>

#include "tidemill/runtime/testing/random_runs.hpp"

using namespace tidemill::internal;

TEST_CASE("thousands of random graphs under random schedules do to the bit what they mean") {
    check_random_programs(100000, random_programs(3000), 4);
}

TEST_CASE("hundreds of random graphs do so while their schedules change all the time") {
    const std::uint64_t programs = random_programs(500);
    fmt::print("random programs with seeds 200000 to {}, rescheduled\n", 200000 + programs - 1);
    for (std::uint64_t i = 0; i < programs; ++i) check_rescheduled(200000 + i);
}

TEST_CASE("thousands of random graphs have batches done elsewhere, also while their schedules change") {
    const std::uint64_t programs = random_programs(1500);
    check_random_programs(400000, programs, 2, Batches::some);
    for (std::uint64_t i = 0; i < programs / 10; ++i) check_rescheduled(500000 + i, Batches::some);
}
