#include "tidemill/scheduling/unequal/task_times.hpp"

#include <doctest/doctest.h>

namespace tidemill::bridge {

TEST_CASE("task times: each kind has a mean of its own, and one on which a task never ran has none") {
    TaskTimes times(2);
    times.resize(2);
    for (int i = 0; i < 20; ++i) times.on(0, 1).note(100);
    CHECK(times.on(0, 1).value() == 100);
    CHECK_FALSE(times.on(1, 1).known());
    for (int i = 0; i < 20; ++i) times.on(1, 1).note(300);
    CHECK(times.on(0, 1).value() == 100);
    CHECK(times.on(1, 1).value() == 300);
    CHECK_FALSE(times.on(0, 0).known());
}

TEST_CASE("task times: the least is over kinds that are known; what never ran counts as what is given") {
    TaskTimes times(3);
    times.resize(1);
    CHECK(times.least(0) == 0);
    CHECK(times.least_or(0, 8000) == 8000);
    times.on(2, 0).note(500);
    CHECK(times.least_or(0, 8000) == 500);
    times.on(1, 0).note(200);
    CHECK(times.least(0) == 200);
}

}  // namespace tidemill::bridge
