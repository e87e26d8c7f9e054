#include "tidemill/machine/thread_time.hpp"

#include <chrono>
#include <thread>

#include <doctest/doctest.h>

namespace tidemill {

TEST_CASE("thread time: only what others took counts, not what the thread waited for") {
    const ThreadTime before{.off_core_ns = 1000, .preemptions = 3, .waits = 5};
    CHECK(preempted_ns(before, {.off_core_ns = 51000, .preemptions = 4, .waits = 5}) == 50000);
    CHECK(preempted_ns(before, {.off_core_ns = 51000, .preemptions = 3, .waits = 5}) == 0);
    CHECK(preempted_ns(before, {.off_core_ns = 51000, .preemptions = 4, .waits = 6}) == 0);
    CHECK(preempted_ns(before, {.off_core_ns = 900, .preemptions = 4, .waits = 5}) == 0);
}

TEST_CASE("thread time: a thread that waits is off its core, by its own will") {
    const ThreadTime before = thread_time();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const ThreadTime after = thread_time();
    // Both clocks are read one after the other, so a difference may be off by what lies between them.
    CHECK(after.off_core_ns - before.off_core_ns > 4'000'000);
    CHECK(after.waits > before.waits);
    CHECK(preempted_ns(before, after) == 0);
}

}  // namespace tidemill
