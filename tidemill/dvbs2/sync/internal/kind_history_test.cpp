#include "tidemill/dvbs2/sync/internal/kind_history.hpp"

#include <vector>

#include <doctest/doctest.h>

namespace tidemill::dvbs2::internal {
namespace {

KindHistory history_of(const std::vector<int>& codes) {
    KindHistory history;
    for (const int code : codes) history.add(code);
    return history;
}

TEST_CASE("kind history: what a plan repeats is predicted, by as long a row as is like the latest") {
    const int both[]{7, 9};
    CHECK(history_of({7, 9, 7, 9}).predict(both) == 7);
    CHECK(history_of({7, 9, 7, 9, 7}).predict(both) == 9);
    CHECK(history_of({7, 7, 9, 9, 7, 7}).predict(both) == 9);
    CHECK(history_of({7, 7, 9, 9, 7, 7, 9}).predict(both) == 9);
    CHECK(history_of({7, 7, 7, 9}).predict(both) == 9);  // nothing has followed that yet: the last one
}

TEST_CASE("kind history: only kinds that are asked for are predicted, and none that never was") {
    const KindHistory history = history_of({1, 2, 3, 1, 2});
    const int others[]{1, 2}, unknown[]{5};
    CHECK(history.predict(others) == 2);
    CHECK(history.predict(unknown) == -1);
    CHECK(KindHistory().predict(others) == -1);
}

TEST_CASE("kind history: each kind is listed once, until it is long ago") {
    KindHistory history = history_of({4, 1, 4, 1, 8});
    CHECK(history.kinds() == std::vector{1, 4, 8});
    for (int i = 0; i < 1000; ++i) history.add(1);
    CHECK(history.kinds() == std::vector{1});
}

}  // namespace
}  // namespace tidemill::dvbs2::internal
