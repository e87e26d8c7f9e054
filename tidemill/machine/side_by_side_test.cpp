#include "tidemill/machine/side_by_side.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

namespace tidemill {
namespace {

TEST_CASE("side by side: each piece is done once, whatever the number of threads") {
    for (const std::size_t count : {0U, 1U, 2U, 100U}) {
        for (const std::size_t threads : {0U, 1U, 3U, 200U}) {
            std::vector<std::atomic<int>> done(count);
            side_by_side(count, threads, [&](std::size_t k) { ++done[k]; });
            CHECK(std::ranges::all_of(done, [](const auto& times) { return times == 1; }));
        }
    }
}

TEST_CASE("side by side: so many are under way at once") {
    std::barrier<> all(4);  // which none passes alone
    side_by_side(4, 4, [&](std::size_t) { all.arrive_and_wait(); });
}

TEST_CASE("side by side: one thread begins them in order, and none after an exception") {
    std::vector<std::size_t> begun;
    const auto until_three = [&](std::size_t k) {
        begun.push_back(k);
        if (k == 3) throw std::runtime_error("three");
    };
    CHECK_THROWS_WITH(side_by_side(10, 1, until_three), "three");
    CHECK(begun == std::vector<std::size_t>{0, 1, 2, 3});
}

TEST_CASE("side by side: an exception comes once all that were begun have ended") {
    std::barrier<> both(2);
    std::atomic<bool> other_ended = false;
    const auto one_throws = [&](std::size_t k) {
        both.arrive_and_wait();
        if (k == 0) throw std::runtime_error("first");
        other_ended = true;
    };
    CHECK_THROWS_WITH(side_by_side(2, 2, one_throws), "first");
    CHECK(other_ended);
}

}  // namespace
}  // namespace tidemill
