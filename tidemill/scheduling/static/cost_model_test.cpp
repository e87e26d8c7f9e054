#include "tidemill/scheduling/static/cost_model.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tidemill/scheduling/static/cost_model_file.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/strategy.hpp"
#include "tidemill/scheduling/static/testing/cost_model_checks.hpp"

namespace tidemill {
namespace {

using internal::compare_with_enumeration;

Chain two_tasks() {
    return {{"big", "little"}, {{"a", false, {10, 20}}, {"b", true, {40, 100}}}};
}

}  // namespace

TEST_CASE("every preference, wanted period and Pareto front equals enumeration in the published model") {
    compare_with_enumeration({.max_tasks = 5, .kinds = 2, .max_cores = 3, .most_weight = 30}, {}, 400);
    compare_with_enumeration({.max_tasks = 4, .kinds = 3, .max_cores = 2, .most_weight = 30}, {}, 200);
}

TEST_CASE("likewise with costs of stages and cuts") {
    compare_with_enumeration({.max_tasks = 5, .kinds = 2, .max_cores = 3, .most_weight = 30}, {.costs = true},
                             400);
    compare_with_enumeration({.max_tasks = 4, .kinds = 3, .max_cores = 2, .most_weight = 30}, {.costs = true},
                             200);
}

TEST_CASE("likewise with cores that slow down as more are busy") {
    compare_with_enumeration({.max_tasks = 5, .kinds = 2, .max_cores = 3, .most_weight = 30},
                             {.slowdowns = true}, 300);
}

TEST_CASE("likewise with two stages on one core, and with everything at once") {
    compare_with_enumeration({.max_tasks = 4, .kinds = 2, .max_cores = 2, .most_weight = 30},
                             {.shared_cores = true}, 300);
    compare_with_enumeration({.max_tasks = 3, .kinds = 2, .max_cores = 2, .most_weight = 30},
                             {.costs = true, .slowdowns = true, .shared_cores = true}, 300);
}

TEST_CASE("a schedule may only become worse when something costs more") {
    const Chain chain = two_tasks();
    const Platform platform{.big = 2, .little = 1};
    CHECK(*herad(chain, platform).period_us == 20);
    CHECK(*herad(chain, platform, {}, {.hop_us = 2}).period_us == 22);
    CHECK(*herad(chain, platform, {}, {.stage_us = 4}).period_us == 24);
}

TEST_CASE("a model file keeps by which memory a device gets its frames fastest") {
    const CostModel model{.hop_us = 1,
                          .memory = {{"cuda:0 card (driver 1)", 65536, "pinned"},
                                     {"cuda:0 card (driver 1)", 1U << 20U, "mapped"}}};
    CHECK(parse_cost_model(to_json(model), "m.json") == model);
    CHECK_THROWS_AS(parse_cost_model(R"({"memory": [{"device": "a", "bytes": 0, "policy": "copy"}]})", "m"),
                    ScheduleError);
}

TEST_CASE("cores left free are not used, and a period out of reach is answered with the best there is") {
    const Chain chain = two_tasks();
    const Platform platform{.big = 3, .little = 1};
    const Schedule some_free = herad(chain, platform, {.leave_free = {.big = 2}});
    CHECK_NOTHROW(check(some_free, Platform{.big = 1, .little = 1}));
    CHECK_THROWS_WITH(herad(chain, platform, {.leave_free = {.big = 4}}),
                      "objective: 4 'big' cores to leave free; expected 0 to 3");
    CHECK(*herad(chain, platform, {.wanted_period_us = 1}).period_us == *herad(chain, platform).period_us);
    for (const Strategy& each : strategies()) {
        CAPTURE(std::string(each.name));
        const Schedule relaxed = each.schedule(chain, platform, {.wanted_period_us = 1000});
        CHECK(relaxed.thread_count() == 1);
    }
    CHECK_THROWS_AS(herad(chain, platform, {.wanted_period_us = -1}), ScheduleError);
    CHECK_THROWS_AS(herad(chain, platform, {.wanted_period_us = std::nan("")}), ScheduleError);
}

TEST_CASE("what a greedy strategy cannot do is refused") {
    const CostModel hops{.hop_us = 1};
    CHECK_THROWS_WITH(
        strategy("fertac").schedule(two_tasks(), Platform{.big = 1}, {}, hops),
        "strategy: only herad, mixed and packed know costs, slowdowns and shared cores; use one of "
        "them, or no model");
    CHECK_THROWS_WITH(strategy("2catac").schedule(two_tasks(), Platform{.big = 1},
                                                  {.among_equals = Preference::kLeastPower}),
                      "2catac: has no choice among equals, so it cannot prefer 'power'; use herad");
}

TEST_CASE("models that make no sense are refused") {
    const auto refused = [](const CostModel& model) {
        CHECK_THROWS_AS(check(model, two_tasks()), ScheduleError);
    };
    refused({.stage_us = -1});
    refused({.hop_us = std::nan("")});
    refused({.byte_us = 1, .bytes_at_cut = {1, 2}});
    refused({.kinds = {{.kind = "gpu"}}});
    refused({.kinds = {{.kind = "big"}, {.kind = "big"}}});
    refused({.kinds = {{.kind = "big", .busy_w = 1, .idle_w = 2}}});
    refused({.kinds = {{.kind = "big", .slowdown = {1.2, 1.1}}}});
    refused({.kinds = {{.kind = "big", .slowdown = {0.5}}}});
    refused({.kinds = {{.kind = "big", .shared_slowdown = 0.9}}});
    CHECK_THROWS_WITH(pareto_front(two_tasks(), Platform{.big = 1}, {}),
                      "pareto: no power is known; give watts, for instance \"big=1.0,little=0.25\"");
}

TEST_CASE("far cuts cost something finite, and a core is in one cluster") {
    const auto with = [](FarCuts far) { return CostModel{.far_cuts = {std::move(far)}}; };
    CHECK_NOTHROW(check(with({"big", {{0, 1}, {2}}, 1, 0.5}), two_tasks()));
    CHECK_THROWS_WITH(
        check(with({"big", {{0, 1}, {2}}, -1, 0}), two_tasks()),
        "model: a far cut on 'big' costs -1 us, and 0 us a byte; expected finite numbers, at least 0");
    CHECK_THROWS_AS(check(with({"big", {{0, 1}, {2}}, 1, std::nan("")}), two_tasks()), ScheduleError);
    CHECK_THROWS_WITH(check(with({"big", {{0, 1}, {1}}, 1, 0}), two_tasks()),
                      "model: core 1 of 'big' is in two clusters; leave it in one");
}

TEST_CASE("what crosses a cut is the chain's to say, unless the model does") {
    Chain chain{{"big"}, {{"a", false, {4}, 100}, {"b", false, {4}, 30}, {"c", false, {4}, 7}}};
    const CostModel told = with_bytes_of(chain, {.byte_us = 0.1});
    CHECK(told.bytes_at_cut == std::vector<double>{100, 30});
    CHECK(with_bytes_of(chain, {.bytes_at_cut = {1, 2}}).bytes_at_cut == std::vector<double>{1, 2});
    // A cut behind a costs 10, one behind b 3: on two cores it is better to cut behind b.
    const Schedule schedule = herad(chain, {.big = 2}, {}, told);
    REQUIRE(schedule.stages.size() == 2);
    CHECK(schedule.stages[0].task_count == 2);
    CHECK(period_us(schedule, chain, told) == doctest::Approx(11));
}

TEST_CASE("watts are read busy and idle, and anything else is refused") {
    const auto kinds = parse_watts("big=1.5/0.25,little=0.5");
    CHECK(kinds == std::vector<KindCosts>{{.kind = "big", .busy_w = 1.5, .idle_w = 0.25},
                                          {.kind = "little", .busy_w = 0.5}});
    for (const char* text : {"", "big", "=1", "big=", "big=x", "big=1/", "big=-1", "big=nan", "big=1,"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_watts(text), ScheduleError);
    }
}

TEST_CASE("a model file is read whole, and what is wrong in it is named") {
    const CostModel model =
        parse_cost_model(R"({"stage_us": 0.5, "hop_us": 1, "byte_us": 0.001, "bytes_at_cut": [512],
        "kinds": {"big": {"busy_w": 4, "idle_w": 1, "slowdown": [1, 1.25], "shared_slowdown": 1.6}}})",
                         "model.json");
    CHECK(model ==
          CostModel{
              .stage_us = 0.5,
              .hop_us = 1,
              .byte_us = 0.001,
              .bytes_at_cut = {512},
              .kinds = {
                  {.kind = "big", .busy_w = 4, .idle_w = 1, .slowdown = {1, 1.25}, .shared_slowdown = 1.6}}});
    CHECK_THROWS_WITH(parse_cost_model(R"({"kinds": {"big": {"watts": 4}}})", "model.json"),
                      "model.json.kinds.big: unknown key \"watts\"; known are: busy_w, idle_w, slowdown, "
                      "shared_slowdown");
    CHECK_THROWS_WITH(parse_cost_model(R"({"hop_us": "1"})", "model.json"),
                      "model.json.hop_us: expected a number, found \"1\"");
}

}  // namespace tidemill
