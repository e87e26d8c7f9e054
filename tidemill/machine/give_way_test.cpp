#include "tidemill/machine/give_way.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include "tidemill/machine/start_thread.hpp"

namespace tidemill {

TEST_CASE("give way: the thread that asks for it comes behind all others, and no other does") {
    const int before = sched_getscheduler(0);
    int inside = before;
    start_thread([&inside] {
        give_way_to_all();
        inside = sched_getscheduler(0);
    }).join();
    CHECK(inside == SCHED_IDLE);
    CHECK(sched_getscheduler(0) == before);
}

}  // namespace tidemill
