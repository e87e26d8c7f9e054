#include "tidemill/apps/outputs/loss_watch.hpp"

#include <doctest/doctest.h>

namespace tidemill::cli {
namespace {

void come(LossWatch& watch, std::uint64_t frames, bool gap = false) {
    for (std::uint64_t k = 0; k < frames; ++k) watch.frame(gap && k == 0);
}

LossWatch& locked(LossWatch& watch) {
    come(watch, 10, true);
    CHECK(watch.look(true) == 0);
    return watch;
}

}  // namespace

TEST_CASE("loss watch: a lock that was never there is not lost") {
    LossWatch watch;
    CHECK(watch.look(false) == 0);
    CHECK(watch.look(true) == 0);
    CHECK(watch.look(false) == 0);
    come(watch, 2, true);
    CHECK(watch.look(false) == 0);
}

TEST_CASE(
    "loss watch: one loss is told once, whether it is seen, heard of, or first one and then the other") {
    LossWatch only_seen, only_heard, both;
    CHECK(locked(only_seen).look(false) == 1);
    CHECK(only_seen.look(false) == 0);
    come(locked(only_heard), 10, true);
    CHECK(only_heard.look(true) == 1);
    CHECK(locked(both).look(false) == 1);
    come(both, 10, true);
    CHECK(both.look(true) == 0);
    CHECK(both.look(true) == 0);
    CHECK(both.look(false) == 1);
}

TEST_CASE("loss watch: a receiver that flickers before frames are back loses nothing again") {
    LossWatch watch;
    CHECK(locked(watch).look(false) == 1);
    CHECK(watch.look(true) == 0);
    come(watch, 1);  // was on its way
    CHECK(watch.look(false) == 0);
    come(watch, 2, true);
    CHECK(watch.look(true) == 0);
    come(watch, 1, true);  // one that was only taken for a frame
    CHECK(watch.look(false) == 0);
    come(watch, 5);
    CHECK(watch.look(true) == 0);
    CHECK(watch.look(false) == 1);
}

TEST_CASE("loss watch: losses too short to be seen are counted, and one that cost no frame ends") {
    LossWatch watch;
    locked(watch);
    come(watch, 5, true);
    come(watch, 5, true);
    CHECK(watch.look(true) == 2);
    CHECK(watch.look(true) == 0);
    CHECK(watch.look(false) == 1);
    come(watch, LossWatch::kFramesOfNoLoss + 1);
    CHECK(watch.look(true) == 0);
    CHECK(watch.look(false) == 1);
}

}  // namespace tidemill::cli
