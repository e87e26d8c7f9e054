#include "tidemill/platform/thread_time.hpp"

#include <chrono>
#include <mutex>
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

TEST_CASE("thread time: a thread that waits for another is off its core, by its own will") {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    ThreadTime before;
    ThreadTime after;
    std::jthread waits([&] {
        before = thread_time();
        const std::lock_guard until_open(mutex);
        after = thread_time();
    });
    // Until the other has had time to fall asleep: its own account tells whether it did.
    for (int looks = 0; looks < 1000; ++looks) std::this_thread::yield();
    lock.unlock();
    waits.join();
    CHECK(after.off_core_ns >= before.off_core_ns);
    CHECK(preempted_ns(before, after) <= after.off_core_ns - before.off_core_ns);
}

}  // namespace tidemill
