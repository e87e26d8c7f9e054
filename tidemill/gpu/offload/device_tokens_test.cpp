#include "tidemill/gpu/offload/device_tokens.hpp"

#include <doctest/doctest.h>

#include "tidemill/gpu/device/stand_in.hpp"

using namespace tidemill;

TEST_CASE("tokens: a block is registered once, and lent again to a ring that it is large enough for") {
    StandInOptions options;
    DeviceTokens tokens(std::make_shared<StandInDevice>(options));
    std::byte* first = tokens.take(4, 128);
    CHECK(tokens.holds({first + 500, 12}));
    CHECK_FALSE(tokens.holds({first + 4090, 12}));  // over the end of its page
    const auto place = tokens.place_of(first + 3 * 128 + 5);
    REQUIRE(place);
    CHECK(place->frame == 3);
    CHECK(place->frames == 4);
    tokens.give_back(first);
    CHECK_FALSE(tokens.place_of(first));
    CHECK(tokens.take(2, 64) == first);
    CHECK(tokens.place_of(first + 64)->frame == 1);
    CHECK(tokens.take(2, 64) != first);
    CHECK(tokens.blocks() == 2);
    CHECK(tokens.refused() == 0);
    CHECK(tokens.refusal().empty());
}

TEST_CASE("tokens: where the device refuses, the program's own memory takes their place, counted and said") {
    StandInOptions options;
    options.policies = {MemoryPolicy::copy, MemoryPolicy::resident};
    DeviceTokens tokens(std::make_shared<StandInDevice>(options));
    std::byte* first = tokens.take(4, 128);
    first[511] = std::byte{1};
    CHECK_FALSE(tokens.holds({first, 1}));
    CHECK(tokens.place_of(first + 511)->frame == 3);
    CHECK(tokens.take(1, 64) != nullptr);
    CHECK(tokens.blocks() == 2);
    CHECK(tokens.refused() == 2);
    CHECK(tokens.refusal() == "stand-in (stand-in) has no mapped memory; it has: copy, resident");
}
