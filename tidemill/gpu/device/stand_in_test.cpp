#include "tidemill/gpu/device/stand_in.hpp"

#include <csignal>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/increment.hpp"
#include "tidemill/gpu/device/increment_cost.hpp"

using namespace tidemill;

namespace {

void increment(WorkSize, std::span<const KernelArgument> arguments) {
    const auto numbers = StandInDevice::as<std::uint32_t>(arguments[0]);
    for (std::uint32_t i = 0; i < std::get<std::uint32_t>(arguments[1]); ++i) ++numbers[i];
}

StandInOptions with_increment() {
    StandInOptions options;
    options.kernels["increment"] = {increment};
    return options;
}

// Several queues, each with increments of its own numbers, all in flight at once.
std::vector<std::uint32_t> increments_at_once(StandInDevice& device) {
    constexpr std::size_t kQueues = 4;
    const auto kernel = device.kernel({device::increment_kernels(), ""}, "increment");
    std::vector<std::unique_ptr<DeviceMemory>> memories;
    std::vector<std::unique_ptr<DeviceQueue>> queues;
    std::vector<std::unique_ptr<DeviceEvent>> ends;
    for (std::size_t i = 0; i < kQueues; ++i) {
        memories.push_back(device.allocate(4, MemoryPolicy::pinned));
        queues.push_back(device.queue());
        memories[i]->host_as<std::uint32_t>()[0] = static_cast<std::uint32_t>(100 * i);
    }
    for (std::size_t i = 0; i < kQueues; ++i) {
        const KernelArgument arguments[] = {memories[i].get(), 1U};
        queues[i]->to_device(*memories[i], 4);
        for (std::size_t execution = 0; execution <= i; ++execution)
            queues[i]->launch(*kernel, {1, 1}, arguments);
        queues[i]->to_host(*memories[i], 4);
        ends.push_back(queues[i]->mark());
    }
    std::vector<std::uint32_t> results;
    for (std::size_t i = 0; i < kQueues; ++i) {
        wait_for(*ends[i], "increments", std::chrono::milliseconds(500));
        results.push_back(memories[i]->host_as<std::uint32_t>()[0]);
    }
    return results;
}

}  // namespace

TEST_CASE("stand-in: queues come to the same numbers in whatever order the seed lets them go on") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        StandInOptions options = with_increment();
        options.seed = seed;
        StandInDevice device(options);
        CHECK(increments_at_once(device) == std::vector<std::uint32_t>{1, 102, 203, 304});
    }
}

TEST_CASE("stand-in: increments are right under every policy") {
    StandInDevice device(with_increment());
    for (const MemoryPolicy policy : memory_policies()) {
        const IncrementCost cost = increment_cost(device, policy, 4096, 2);
        CHECK(cost.first_us.size() == (policy == MemoryPolicy::resident ? 0 : 2));
        CHECK(cost.second_us.size() == 2);
    }
}

TEST_CASE("stand-in: more memory than is free is refused with what there is") {
    StandInDevice device(with_increment());
    const std::size_t too_much = device.free_bytes() + 4096;
    try {
        device.allocate(too_much, MemoryPolicy::resident);
        FAIL("there is room");
    } catch (const DeviceError& error) {
        CHECK(
            std::string(error.what()) ==
            "stand-in: 1073745920 bytes of resident memory are wanted, and 1073741824 are free: use smaller "
            "batches");
    }
}

TEST_CASE("stand-in: memory that moves by itself is a quarter of what is free, all together") {
    StandInDevice device(with_increment());
    const std::size_t some = device.free_bytes() / 8;
    auto first = device.allocate(some, MemoryPolicy::managed);
    try {
        device.allocate(some, MemoryPolicy::prefetched);
        FAIL("it may be more");
    } catch (const DeviceMemoryError& error) {
        CHECK(
            std::string(error.what()) ==
            "stand-in: 268435456 bytes of prefetched memory in all are more than a quarter of the 939524096 "
            "that are free, which can hang a device: use smaller batches, or another policy");
    }
    first.reset();
    CHECK(device.allocate(some, MemoryPolicy::prefetched)->bytes() == some);
}

TEST_CASE("stand-in: each call in turn fails with its number, and all that was made is given back") {
    StandInDevice whole(with_increment());
    increments_at_once(whole);
    const std::uint64_t calls = whole.calls();
    REQUIRE(calls > 20);
    for (std::uint64_t call = 1; call <= calls; ++call) {
        StandInOptions options = with_increment();
        options.fails_at_call = call;
        StandInDevice device(options);
        try {
            increments_at_once(device);
            FAIL("it goes on");
        } catch (const DeviceError& error) {
            CHECK(std::string(error.what()).starts_with("stand-in: call " + std::to_string(call) + " ("));
        }
    }
}

TEST_CASE("stand-in: what hangs is told by who waits for it, and does not keep the program") {
    StandInOptions options = with_increment();
    options.hangs_at_call = 11;  // a launch
    StandInDevice device(options);
    CHECK_THROWS_WITH_AS(
        increments_at_once(device),
        "increments: not done after 500 ms; the device hangs, or the work is too big: use smaller "
        "batches",
        DeviceError);
}

TEST_CASE("stand-in: a program that touches memory in flight is ended, where that is watched") {
#ifdef TIDEMILL_SANITIZED
    MESSAGE("skipped: sanitizers catch the signal");
    return;
#else
    const pid_t child = fork();
    if (child == 0) {
        std::signal(SIGSEGV, SIG_DFL);
        StandInOptions options = with_increment();
        options.guards_memory = true;
        StandInDevice device(options);
        const auto memory = device.allocate(4, MemoryPolicy::managed);
        const auto queue = device.queue();
        queue->to_device(*memory, 4);
        const auto end = queue->mark();
        while (!end->done()) {
        }
        memory->host_as<std::uint32_t>()[0] = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGSEGV);
#endif
}

TEST_CASE("stand-in: copies and kernels of different queues take their times beside each other") {
    StandInOptions options = with_increment();
    options.us_per_kilobyte = 500;
    options.kernels["increment"].us = [](WorkSize) { return 1000.0; };
    StandInDevice device(options);
    const auto memory = device.allocate(2048, MemoryPolicy::pinned);
    const auto kernel = device.kernel({device::increment_kernels(), ""}, "increment");
    const auto queue = device.queue();
    const auto begin = queue->mark();
    queue->to_device(*memory, 2048);
    const auto copied = queue->mark();
    const KernelArgument arguments[] = {memory.get(), 1U};
    queue->launch(*kernel, {1, 1}, arguments);
    const auto end = queue->mark();
    wait_for(*end, "increment");
    CHECK(copied->us_since(*begin) >= 1000);
    CHECK(end->us_since(*copied) >= 1000);
}

TEST_CASE(
    "stand-in: of queues that wait for a unit the one that was sent off first goes on, where that is "
    "wanted") {
    constexpr std::uint32_t kQueues = 8;
    for (unsigned seed = 0; seed < 4; ++seed) {
        std::vector<std::uint32_t> done;
        StandInOptions options{.first_sent_first = true, .seed = seed};
        options.kernels["increment"] = {[&](WorkSize, std::span<const KernelArgument> arguments) {
                                            done.push_back(std::get<std::uint32_t>(arguments[0]));
                                        },
                                        [](WorkSize) { return 1000.0; }};
        StandInDevice device(options);
        const auto kernel = device.kernel({device::increment_kernels(), ""}, "increment");
        std::vector<std::unique_ptr<DeviceQueue>> queues;
        std::vector<std::unique_ptr<DeviceEvent>> ends;
        for (std::uint32_t i = 0; i < kQueues; ++i) queues.push_back(device.queue());
        for (std::uint32_t i = 0; i < kQueues; ++i) {
            const KernelArgument arguments[] = {i};
            queues[i]->launch(*kernel, {1, 1}, arguments);
            ends.push_back(queues[i]->mark());
        }
        for (const auto& end : ends) wait_for(*end, "increments");
        CHECK(done == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
    }
}
