#include "tidemill/scheduling/static/interruption.hpp"

#include <functional>
#include <stop_token>

#include <doctest/doctest.h>

#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/latency.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

namespace tidemill {

namespace {

const Chain kChain{{"big", "little"}, {{"read", false, {3, 5}}, {"decode", true, {11, 17}}}};
const Platform kCores{.big = 2, .little = 2};

}  // namespace

TEST_CASE("interruption: searches for schedules end when they are asked to") {
    std::stop_source stop;
    const Interruptible here(stop.get_token());
    stop.request_stop();
    for (const char* name : {"packed", "mixed", "herad", "2catac"}) {
        CAPTURE(name);
        CHECK_THROWS_AS(strategy(name).schedule(kChain, kCores, {}, {}), Interrupted);
    }
    CHECK_THROWS_AS(pareto_front(kChain, kCores, {.kinds = parse_watts("big=1,little=0.25")}), Interrupted);
    CHECK_THROWS_AS(least_latency(kChain, kCores), Interrupted);
}

}  // namespace tidemill
