#include "tidemill/machine/affinity.hpp"

#include <thread>

#include <doctest/doctest.h>

using namespace tidemill;

namespace {

// A thread of its own, so that no test changes the affinity of the others.
template <typename Work>
void in_own_thread(Work work) {
    std::thread(work).join();
}

Pu last_usable() {
    return Topology::here().pus().back();
}

// Whether the machine lets us pin at all; a sandbox may not, and then only refusals can be checked.
bool can_pin() {
    bool pinned = false;
    const Pu pu = last_usable();
    in_own_thread([&] { pinned = !pin_this_thread(PuSet{pu}); });
    if (!pinned) MESSAGE("skipped: this system refuses to pin");
    return pinned;
}

}  // namespace

TEST_CASE("affinity: a pinned thread may run on its PU alone, an unpinned one on all again") {
    if (!can_pin()) return;
    const Topology topology = Topology::here();
    const Pu pu = last_usable();
    std::vector<int> before, pinned, after;
    bool refused = false;
    in_own_thread([&] {
        before = affinity_of_this_thread();
        pin_this_thread(PuSet{pu});
        pinned = affinity_of_this_thread();
        refused = unpin_this_thread(topology).has_value();
        after = affinity_of_this_thread();
    });
    CHECK(pinned == std::vector{pu.os_number});
    CHECK_FALSE(refused);
    CHECK(after == before);
}

TEST_CASE("affinity: a PU that does not exist is an error value, and nothing changes") {
    for (int missing : {4095, 1 << 16, 2147483647, -1}) {
        CAPTURE(missing);
        std::vector<int> before, after;
        std::optional<PinError> error;
        in_own_thread([&] {
            before = affinity_of_this_thread();
            error = pin_this_thread(PuSet{{missing, missing}});
            after = affinity_of_this_thread();
        });
        REQUIRE(error.has_value());
        CHECK(error->code != 0);
        CHECK(error->reason.find(std::to_string(missing)) != std::string::npos);
        CHECK(after == before);
    }
}

TEST_CASE("affinity: a set that is only granted in part is refused as a whole") {
    const Pu real = last_usable();
    std::vector<int> before, after;
    std::optional<PinError> error;
    in_own_thread([&] {
        before = affinity_of_this_thread();
        error = pin_this_thread(PuSet{real, {4095, 4095}});
        after = affinity_of_this_thread();
    });
    REQUIRE(error.has_value());
    CHECK_FALSE(error->reason.empty());
    CHECK(after == before);
}

TEST_CASE("affinity: pinning to nothing is refused") {
    const auto error = pin_this_thread(PuSet{});
    REQUIRE(error.has_value());
    CHECK(error->reason == "no PU was asked for");
}

TEST_CASE("affinity: a guard pins for its lifetime and restores what was before") {
    if (!can_pin()) return;
    const Pu first = Topology::here().pus().front();
    const Pu last = last_usable();
    std::vector<int> inside, after;
    in_own_thread([&] {
        pin_this_thread(PuSet{first});
        {
            const PinGuard guard(PuSet{last});
            inside = guard.error() ? std::vector<int>{} : affinity_of_this_thread();
        }
        after = affinity_of_this_thread();
    });
    CHECK(inside == std::vector{last.os_number});
    CHECK(after == std::vector{first.os_number});
}

TEST_CASE("affinity: a guard that is refused says so and changes nothing") {
    std::vector<int> before, inside, after;
    bool refused = false;
    in_own_thread([&] {
        before = affinity_of_this_thread();
        {
            const PinGuard guard(PuSet{{4095, 4095}});
            refused = guard.error().has_value();
            inside = affinity_of_this_thread();
        }
        after = affinity_of_this_thread();
    });
    CHECK(refused);
    CHECK(inside == before);
    CHECK(after == before);
}
