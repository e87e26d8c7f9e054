#include "tidemill/scheduling/dynamic/throttle.hpp"

#include <doctest/doctest.h>

#include "tidemill/scheduling/dynamic/policy_error.hpp"

namespace tidemill::policy {

TEST_CASE("a window in iterations holds back the one that is too far from the oldest unfinished") {
    Throttle throttle({.iterations = 2});
    for (const std::uint64_t iteration : {0u, 0u, 1u, 1u}) {
        CHECK(throttle.admits(iteration));
        throttle.created(iteration);
    }
    CHECK_FALSE(throttle.admits(2));
    throttle.completed(1);
    throttle.completed(1);
    throttle.completed(0);
    CHECK_FALSE(throttle.admits(2));
    throttle.completed(0);
    CHECK(throttle.admits(2));
    CHECK(throttle.tasks() == 0);
}

TEST_CASE("an iteration that is still being created counts as unfinished") {
    Throttle throttle({.iterations = 1});
    throttle.created(0);
    throttle.completed(0);
    CHECK(throttle.admits(0));
    throttle.created(0);
    CHECK_FALSE(throttle.admits(1));
    throttle.completed(0);
    CHECK(throttle.admits(1));
}

TEST_CASE("a window in tasks lets one iteration wait for ever while others pass") {
    Throttle throttle({.tasks = 2});
    throttle.created(0);
    for (std::uint64_t iteration = 1; iteration < 1000; ++iteration) {
        REQUIRE(throttle.admits(iteration));
        throttle.created(iteration);
        REQUIRE_FALSE(throttle.admits(iteration));
        throttle.completed(iteration);
    }
    CHECK(throttle.oldest_iteration() == 0);
    throttle.completed(0);
    CHECK(throttle.oldest_iteration() == 999);
}

TEST_CASE("a window in bytes counts what is reserved until it is released, not what runs") {
    Throttle throttle({.bytes = 100});
    throttle.created(0, 60);
    CHECK(throttle.admits(1, 40));
    CHECK_FALSE(throttle.admits(1, 41));
    throttle.completed(0);
    CHECK_FALSE(throttle.admits(1, 41));
    throttle.released(60);
    CHECK(throttle.admits(1, 100));
}

TEST_CASE("a window of nothing is refused") {
    CHECK_THROWS_AS(Throttle({.iterations = 0}), PolicyError);
    CHECK_THROWS_AS(Throttle({.tasks = 0}), PolicyError);
    CHECK_THROWS_AS(Throttle({.bytes = 0}), PolicyError);
}

}  // namespace tidemill::policy
