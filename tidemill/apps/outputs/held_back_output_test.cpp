#include "tidemill/apps/outputs/held_back_output.hpp"

#include <cstdio>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

namespace tidemill::cli {

TEST_CASE("held-back output: what is written by number or by stream is kept, and none of it comes out") {
    HeldBackOutput outer;
    HeldBackOutput held;
    std::printf("printed ");
    REQUIRE(std::fflush(stdout) == 0);
    REQUIRE(write(STDERR_FILENO, "written ", 8) == 8);
    std::printf("at the end");
    const std::string kept = held.end();
    const std::string beyond = outer.end();
    CHECK(kept == "printed written at the end");
    CHECK(beyond.empty());
    CHECK(held.end().empty());
}

TEST_CASE("held-back output: of much the last is kept") {
    HeldBackOutput held;
    const std::string much(100'000, 'x');
    REQUIRE(write(STDOUT_FILENO, much.data(), much.size()) == static_cast<ssize_t>(much.size()));
    REQUIRE(write(STDOUT_FILENO, "end", 3) == 3);
    const std::string kept = held.end();
    CHECK(kept.size() == 64 << 10);
    CHECK(kept.ends_with("xend"));
}

}  // namespace tidemill::cli
