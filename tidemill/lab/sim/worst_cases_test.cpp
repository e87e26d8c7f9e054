#include "tidemill/lab/sim/worst_cases.hpp"

#include <set>

#include "tidemill/lab/sim/testing/worst_case_checks.hpp"
#include "tidemill/scheduling/dynamic/adaptive.hpp"
#include "tidemill/scheduling/dynamic/ranked.hpp"

namespace tidemill::worst_case {

namespace {

double settled(const StreamGraph& graph, unsigned p, const char* policy, std::uint64_t window) {
    return run(graph, p, 2000, {.policy = policy, .window = {.iterations = window}}, 0.01)
        .settled_utilisation;
}

// Raises the bottleneck, but nothing that it waits for.
class OnlyTheBottleneck : public policy::Adaptive<OnlyTheBottleneck> {
  public:
    using Adaptive::Adaptive;
    void raise(policy::TaskTypeId bottleneck) {
        types_[bottleneck].adjustment += adapting_.first_delta;
        raised.insert(bottleneck);
    }
    std::set<policy::TaskTypeId> raised{};
};

// As apriority, but begins anew with the statistics of the bottleneck only.
class ForgetsTheBottleneck : public policy::Adaptive<ForgetsTheBottleneck> {
  public:
    using Adaptive::Adaptive;
    void raise(policy::TaskTypeId bottleneck) {
        types_[bottleneck].adjustment += adapting_.first_delta;
        raise_ancestors(bottleneck, [](const auto&, Rank after) { return after; });
    }
    void forget(std::optional<policy::TaskTypeId> bottleneck) {
        if (bottleneck) busyness_[*bottleneck] = {};
    }
};

template <class R>
double settled_under(const StreamGraph& graph, unsigned p, policy::Ranked<R>& made) {
    return run(graph, p, 2000, {.window = {.iterations = 6}, .made = &made}, 0.01).settled_utilisation;
}

}  // namespace

TEST_CASE("exhaustion: each policy at its worst keeps p workers busy to p/(2p-1)") {
    for (const unsigned p : {2u, 3u, 5u, 8u}) check_exhaustion(p);
}

TEST_CASE("back pressure: each policy at its worst does as the formula of Table 4.3 says") {
    for (const unsigned p : {2u, 3u, 5u}) check_back_pressure(p);
}

TEST_CASE("fifo runs a long task type behind a long pipeline at half the rate") {
    for (const unsigned p : {2u, 3u, 5u}) check_fifo_back_pressure(p, 1000);
}

TEST_CASE("the adaptive policies cure every case of exhaustion") {
    for (const unsigned p : {2u, 3u, 5u}) check_cure(p);
}

TEST_CASE(
    "where a bottleneck waits for another task type, only raising both cures exhaustion, as in Fig. 4.12") {
    for (const unsigned p : {5u, 8u, 16u}) {
        CAPTURE(p);
        const StreamGraph graph = exhaustion_behind(p, kUnitUs);
        CHECK(settled(graph, p, "oldest", 6) < 0.955);
        CHECK(settled(graph, p, "apriority", 6) > 0.99);
        CHECK(settled(graph, p, "gpriority", 6) > 0.99);
        policy::Ranked<OnlyTheBottleneck> alone(std::vector<policy::KindId>(p), OnlyTheBottleneck(p, {}));
        CHECK(settled_under(graph, p, alone) < 0.955);
        CHECK(alone.rule().raised == std::set<policy::TaskTypeId>{1});  // b
    }
}

TEST_CASE(
    "statistics of all task types begin anew: else the join is blamed, and all is as before, as in Fig. "
    "4.11") {
    const StreamGraph graph = exhaustion_joined(5, kUnitUs);
    policy::Ranked<ForgetsTheBottleneck> partly(std::vector<policy::KindId>(5),
                                                ForgetsTheBottleneck(5, {.first_delta = 10}));
    CHECK(settled_under(graph, 5, partly) < 0.7);
    CHECK(settled(graph, 5, "apriority", 6) > 0.99);
}

TEST_CASE("with a window of one iteration there is nothing to run ahead with: no policy cures exhaustion") {
    for (const char* policy : {"oldest", "apriority", "gpriority"}) {
        CHECK(settled(exhaustion(3, false, kUnitUs), 3, policy, 1) == doctest::Approx(0.6).epsilon(0.01));
    }
}

TEST_CASE(
    "where two task types share one worker nothing looks like a bottleneck: the throttle helps, not "
    "priorities") {
    const auto efficiency = [](const char* policy, const policy::Window& window) {
        return run(stolen_type(8, kUnitUs), 8, 2000, {.policy = policy, .window = window}).efficiency(8);
    };
    CHECK(efficiency("oldest", {}) == doctest::Approx(0.70).epsilon(0.01));
    CHECK(efficiency("gpriority", {}) < 0.75);
    CHECK(efficiency("oldest", {.iterations = 8}) > 0.95);
}

TEST_CASE("the throttle trades: too few iterations leave workers idle, too many let task types run apart") {
    const auto efficiency = [](const policy::Window& window) {
        return run(slow_end(3, 4, kUnitUs), 3, 100, {.policy = "toplev", .window = window}).efficiency(3);
    };
    CHECK(efficiency({.iterations = 2}) < 0.67);
    CHECK(efficiency({.iterations = 3}) > 0.97);
    CHECK(efficiency({.iterations = 16}) < 0.93);
    CHECK(efficiency({.iterations = 64}) < 0.75);
    CHECK(efficiency({}) == doctest::Approx(2.0 / 3).epsilon(0.01));
}

}  // namespace tidemill::worst_case
