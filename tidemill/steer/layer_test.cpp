#include "tidemill/steer/layer.hpp"

#include <doctest/doctest.h>

#include "tidemill/scheduling/unequal/bridge_error.hpp"

namespace tidemill::bridge {

namespace {

constexpr policy::KindId kBig = 0;
constexpr policy::KindId kLittle = 1;

// A million instructions in so much time.
Sample took(std::uint64_t time_ns) {
    return {.time_ns = time_ns, .instructions = 1'000'000};
}

void run(Layer& layer, TaskId task, policy::KindId kind, std::uint64_t time_ns, int samples) {
    for (int i = 0; i < samples; ++i) layer.statistic(task, kind, took(time_ns));
    layer.generate();
}

}  // namespace

TEST_CASE("layer: a task's factor is absent until it ran on both kinds, then the ratio of its times") {
    Layer layer(4, 2);
    layer.create(2);
    run(layer, 2, kBig, 400'000, 3);
    CHECK(layer.factors().read(2, kLittle).quality == Quality::absent);
    layer.migrate(2, kLittle, took(1'000'000));
    layer.generate();
    CHECK(layer.factors().read(2, kLittle).value == doctest::Approx(2.5));
    CHECK(layer.factors().read(2, kLittle).quality == Quality::estimated);
    CHECK(layer.factors().read(2, kBig).value == 1);
    run(layer, 2, kBig, 400'000, 5);
    run(layer, 2, kLittle, 1'000'000, 7);
    CHECK(layer.factors().read(2, kLittle).quality == Quality::measured);
}

TEST_CASE("layer: without a count of work there is no factor") {
    Layer layer(1, 2);
    for (const policy::KindId kind : {kBig, kLittle}) layer.statistic(0, kind, {.time_ns = 1'000'000});
    layer.generate();
    CHECK(layer.factors().read(0, kLittle).quality == Quality::absent);
}

TEST_CASE("layer: a program that ran before is known when it starts again, in any place") {
    Layer layer(2, 2);
    layer.exec(0, "fft");
    run(layer, 0, kBig, 100'000, 8);
    run(layer, 0, kLittle, 400'000, 8);
    layer.exit(0);
    layer.exec(0, "sha");
    layer.exec(1, "fft");
    layer.generate();
    CHECK(layer.factors().read(0, kLittle).quality == Quality::absent);
    CHECK(layer.factors().read(1, kLittle).value == doctest::Approx(4));
    CHECK(layer.factors().read(1, kLittle).quality == Quality::measured);
}

TEST_CASE(
    "layer: a place that is given to another task has no factors of the one before, not even at first") {
    Layer layer(1, 2);
    layer.exec(0, "fft");
    for (const policy::KindId kind : {kBig, kLittle}) run(layer, 0, kind, 100'000, 8);
    layer.exit(0);
    CHECK(layer.factors().read(0, kLittle).quality == Quality::absent);
    layer.create(0);
    CHECK(layer.factors().read(0, kLittle).quality == Quality::absent);
}

TEST_CASE("layer: what is known of a task is dropped after four samples of another speed, not after three") {
    Layer layer(1, 2);
    run(layer, 0, kLittle, 400'000, 8);
    run(layer, 0, kBig, 100'000, 8);
    run(layer, 0, kBig, 300'000, 3);
    CHECK(layer.factors().read(0, kLittle).quality == Quality::measured);
    run(layer, 0, kBig, 300'000, 1);
    CHECK(layer.factors().read(0, kLittle).quality == Quality::absent);
    run(layer, 0, kLittle, 300'000, 1);
    CHECK(layer.factors().read(0, kLittle).value == doctest::Approx(1));
}

TEST_CASE("layer: only tasks of which something is new get factors of a new version") {
    Layer layer(2, 2);
    for (const TaskId task : {0u, 1u}) {
        run(layer, task, kBig, 100'000, 1);
        run(layer, task, kLittle, 200'000, 1);
    }
    const std::uint32_t before = layer.factors().version();
    layer.generate();
    CHECK(layer.factors().version() == before);
    run(layer, 1, kLittle, 300'000, 1);
    CHECK(layer.factors().read(1, kLittle).version == before + 1);
    CHECK(layer.factors().read(0, kLittle).version < before);
}

TEST_CASE("layer: another model's factors are those of its own rule") {
    Layer layer(1, 2, [](std::span<const History> on_kinds, policy::KindId kind) {
        return Factor{static_cast<double>(on_kinds[kind].sum.misses), Quality::measured};
    });
    layer.statistic(0, kLittle, {.time_ns = 1, .misses = 7});
    layer.generate();
    CHECK(layer.factors().read(0, kLittle).value == 7);
}

TEST_CASE("layer: no tasks or no kinds are refused") {
    CHECK_THROWS_WITH_AS(Layer(0, 2), "factors for 0 tasks on 2 kinds of cores: give one of each at least",
                         BridgeError);
    CHECK_THROWS_AS(Layer(1, 0), BridgeError);
}

}  // namespace tidemill::bridge
