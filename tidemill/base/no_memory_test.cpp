#include <cstddef>
#include <new>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "tidemill/base/json.hpp"
#include "tidemill/testing/refused_memory.hpp"

namespace {

// Allocations of this thread that are still given; none: all.
thread_local std::optional<std::size_t> given_still;

}  // namespace

bool tidemill::testing::refuses_memory() noexcept {
    if (!given_still || (*given_still)-- > 0) return false;
    given_still.reset();
    return true;
}

namespace tidemill {

TEST_CASE("json: a copy for which memory ends anywhere on the way is an error, and leaves what was there") {
    const std::string long_text(100, 'x');
    const Json original{{"a", Json(Json::Array{1, long_text, Json::array()})},
                        {"object", Json{{long_text, long_text}, {"b", 2.5}}},
                        {"rows", Json(Json::Array(20, Json{{"c", long_text}}))}};
    Json assigned = 7;
    std::size_t failures = 0;
    for (bool fails = true; fails;) {
        fails = false;
        for (const bool assigns : {false, true}) {
            given_still = failures;
            try {
                if (assigns)
                    assigned = original;
                else
                    const Json copy = original;
            } catch (const std::bad_alloc&) {
                fails = true;
            }
            given_still.reset();
            if (assigns) CHECK(to_text(assigned) == (fails ? "7" : to_text(original)));
        }
        failures += fails ? 1 : 0;
    }
    CHECK(failures > 40);
}

}  // namespace tidemill
