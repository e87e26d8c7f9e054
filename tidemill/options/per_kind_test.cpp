#include "tidemill/options/per_kind.hpp"

#include <doctest/doctest.h>

#include "tidemill/base/cli_error.hpp"

namespace tidemill::cli {

TEST_CASE("numbers per kind are read in their order") {
    const auto kinds = parse_per_kind("big=4,little=0.3", "--drop");
    REQUIRE(kinds.size() == 2);
    CHECK(kinds[0] == std::pair<std::string, double>{"big", 4.0});
    CHECK(kinds[1] == std::pair<std::string, double>{"little", 0.3});
    CHECK(parse_per_kind("", "--drop").empty());
}

TEST_CASE("what is no number per kind is refused") {
    for (const char* wrong : {"big", "=1", "big=", "big=x", "big=1/2", "big=1x", "big=1,,little=2", "big=1,",
                              "big=nan", "big=1,big=2"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(parse_per_kind(wrong, "--drop"), WrongUsage);
    }
}

}  // namespace tidemill::cli
