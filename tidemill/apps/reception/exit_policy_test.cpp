#include "tidemill/apps/reception/exit_policy.hpp"

#include <doctest/doctest.h>

#include "tidemill/base/cli_error.hpp"

namespace tidemill::cli {

TEST_CASE("exit policy: without a lock for so long, from the start or since it was lost") {
    ExitPolicies policies({parse_exit_policy("no-lock:60s")});
    CHECK_FALSE(policies.look({.time_s = 59.9}));
    CHECK_FALSE(policies.look({.time_s = 100, .locked = true}));
    CHECK(policies.was_locked());
    CHECK_FALSE(policies.look({.time_s = 159}));
    CHECK(policies.unlocked_s() == doctest::Approx(59));
    CHECK(policies.look({.time_s = 160}) == "--exit-on no-lock:60s ended the reception");
    CHECK(ExitPolicies({parse_exit_policy("no-lock:1min")}).look({.time_s = 60}));
}

TEST_CASE("exit policy: without samples for so long") {
    ExitPolicies policies({parse_exit_policy("no-samples:10s")});
    CHECK_FALSE(policies.look({.time_s = 9, .samples = 100}));
    CHECK_FALSE(policies.look({.time_s = 18, .samples = 200}));
    CHECK_FALSE(policies.look({.time_s = 27, .samples = 200}));
    CHECK(policies.look({.time_s = 28, .samples = 200}));
}

TEST_CASE("exit policy: so many losses; of several the first that comes true is named") {
    ExitPolicies policies({parse_exit_policy("packets-lost:100"), parse_exit_policy("frames-bad:5")});
    CHECK_FALSE(policies.look({.packets_lost = 99, .frames_bad = 4}));
    CHECK(policies.look({.packets_lost = 0, .frames_bad = 5}) ==
          "--exit-on frames-bad:5 ended the reception");
    CHECK(policies.look({.packets_lost = 100}) == "--exit-on packets-lost:100 ended the reception");
    CHECK_FALSE(ExitPolicies({}).look({.time_s = 1e9}));
}

TEST_CASE("exit policy: what is none is refused, saying what there is") {
    for (const char* text : {"", "no-lock", "no-lock:", "no-lock:0", "no-lock:-1s", "no-lock:x", "lock:5s",
                             "frames-bad:1.5", "frames-bad:-1", "no-lock:nan", ":5"}) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(parse_exit_policy(text), doctest::Contains("no-samples:10s"), WrongUsage);
    }
}

}  // namespace tidemill::cli
