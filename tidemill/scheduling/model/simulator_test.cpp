#include "tidemill/scheduling/model/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/latency.hpp"
#include "tidemill/scheduling/static/packed.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {
namespace {

StageModel stage(std::size_t threads, std::vector<double> work_us, std::size_t kind = 0) {
    return {threads, kind, std::move(work_us), false};
}

PipelineModel pipeline(std::vector<StageModel> stages, std::size_t tokens) {
    PipelineModel model;
    model.stages = std::move(stages);
    model.cores = {{.kind = "big"}, {.kind = "little"}};
    model.tokens = tokens;
    return model;
}

// As a run room's pool has it: threads, and one frame that may wait at each cut.
std::size_t usual_tokens(const std::vector<StageModel>& stages) {
    std::size_t tokens = stages.size() - 1;
    for (const StageModel& each : stages) tokens += each.threads;
    return tokens;
}

std::vector<SimStep> steps_of(const PipelineModel& model, std::uint64_t frames) {
    std::vector<SimStep> steps;
    simulate(model, frames, [&](const SimStep& step) { steps.push_back(step); });
    return steps;
}

// The same rules written as a recursion over frames and stages, without any event: possible where neither
// jitter nor speed depends on what else happens.
std::vector<double> ends_by_recursion(const PipelineModel& model, std::uint64_t frames) {
    const std::size_t stages = model.stages.size();
    const double hop_us = stages > 1 ? model.hop_latency_us : 0;
    std::vector<double> ends(frames * stages);
    for (std::uint64_t k = 0; k < frames; ++k) {
        for (std::size_t s = 0; s < stages; ++s) {
            const StageModel& each = model.stages[s];
            double begin = 0;
            if (k >= each.threads) begin = ends[(k - each.threads) * stages + s];
            if (s > 0) begin = std::max(begin, ends[k * stages + s - 1] + hop_us);
            if (s == 0 && k >= model.tokens)
                begin = std::max(begin, ends[(k - model.tokens) * stages + stages - 1] + hop_us);
            ends[k * stages + s] = begin + each.work_us[k % each.work_us.size()];
        }
    }
    return ends;
}

PipelineModel any_pipeline(bool changing_work) {
    std::vector<StageModel> stages;
    const auto count = *rc::gen::inRange<std::size_t>(1, 6);
    for (std::size_t s = 0; s < count; ++s) {
        std::vector<double> work(changing_work ? *rc::gen::inRange<std::size_t>(1, 4) : 1);
        for (double& each : work) each = *rc::gen::inRange(0, 50);
        stages.push_back(stage(*rc::gen::inRange<std::size_t>(1, 5), std::move(work)));
    }
    PipelineModel model = pipeline(std::move(stages), *rc::gen::inRange<std::size_t>(1, 20));
    model.hop_latency_us = *rc::gen::inRange(0, 5);
    return model;
}

Chain two_kinds() {
    return {{"big", "little"}, {{"a", false, {10, 20}}, {"b", true, {40, 70}}, {"c", false, {15, 30}}}};
}

Schedule three_stages() {
    return {.stages = {{0, 1, 1, "little"}, {1, 1, 2, "big"}, {2, 1, 1, "big"}}};
}

}  // namespace

TEST_CASE("the period of a full pipeline is its slowest stage") {
    const std::vector<StageModel> stages{stage(1, {10}), stage(3, {75}), stage(1, {20})};
    const SimReport report = simulate(pipeline(stages, usual_tokens(stages)), 600);
    CHECK(report.period_us == doctest::Approx(25));
    CHECK(report.stages[1].occupancy == doctest::Approx(1).epsilon(0.01));
    CHECK(report.stages[0].occupancy == doctest::Approx(0.4).epsilon(0.01));
}

TEST_CASE("with one token, the period and the latency are the sum of all stages and hops") {
    PipelineModel model = pipeline({stage(1, {10}), stage(4, {40}), stage(2, {5})}, 1);
    CHECK(simulate(model, 100).period_us == doctest::Approx(55));
    CHECK(simulate(model, 100).latency.most_us == doctest::Approx(55));
    model.hop_latency_us = 2;
    CHECK(simulate(model, 100).period_us == doctest::Approx(61));  // two hops and the token's way back
    CHECK(simulate(model, 100).latency.median_us == doctest::Approx(59));
}

TEST_CASE("a ring of one frame hides that two stages are slow on the same frames") {
    const std::vector<StageModel> together{stage(1, {3, 1}), stage(1, {3, 1})};
    CHECK(simulate(pipeline(together, 2), 400).period_us == doctest::Approx(3));
    CHECK(simulate(pipeline(together, 3), 400).period_us == doctest::Approx(2));
    const std::vector<StageModel> in_turn{stage(1, {1, 3}), stage(1, {3, 1})};
    CHECK(simulate(pipeline(in_turn, 2), 400).period_us == doctest::Approx(2));
}

TEST_CASE("between n and m threads frames keep their order on each thread") {
    for (std::size_t n = 1; n <= 4; ++n) {
        for (std::size_t m = 1; m <= 4; ++m) {
            CAPTURE(n);
            CAPTURE(m);
            const std::vector<StageModel> stages{stage(n, {12}), stage(m, {12})};
            const SimReport report = simulate(pipeline(stages, usual_tokens(stages)), 500);
            CHECK(report.period_us == doctest::Approx(12.0 / static_cast<double>(std::min(n, m))));
        }
    }
}

TEST_CASE("every frame passes every stage once, in order on its own thread, after the stage before") {
    CHECK(rc::check([] {
        PipelineModel model = any_pipeline(true);
        model.jitter = 0.01 * *rc::gen::inRange(0, 60);
        model.cores[0].slowdown = slowdowns_of(0.3, 4);
        const std::uint64_t frames = *rc::gen::inRange<std::uint64_t>(1, 60);
        const std::vector<SimStep> steps = steps_of(model, frames);
        RC_ASSERT(steps.size() == frames * model.stages.size());
        std::map<std::pair<std::size_t, std::size_t>, SimStep> last_of_thread;
        std::map<std::pair<std::size_t, std::uint64_t>, double> ended;
        for (const SimStep& step : steps) {
            RC_ASSERT(step.thread == step.frame % model.stages[step.stage].threads);
            if (step.stage > 0) RC_ASSERT(step.begin_us >= ended.at({step.stage - 1, step.frame}));
            if (step.stage == 0 && step.frame >= model.tokens) {
                RC_ASSERT(step.begin_us >= ended.at({model.stages.size() - 1, step.frame - model.tokens}));
            }
            const auto before = last_of_thread.find({step.stage, step.thread});
            if (before != last_of_thread.end()) {
                RC_ASSERT(step.frame == before->second.frame + model.stages[step.stage].threads);
                RC_ASSERT(step.begin_us >= before->second.end_us);
            } else {
                RC_ASSERT(step.frame == step.thread);
            }
            last_of_thread.insert_or_assign({step.stage, step.thread}, step);
            RC_ASSERT(ended.emplace(std::pair{step.stage, step.frame}, step.end_us).second);
        }
    }));
}

TEST_CASE("events agree with the recursion over frames and stages") {
    CHECK(rc::check([] {
        const PipelineModel model = any_pipeline(true);
        const std::uint64_t frames = *rc::gen::inRange<std::uint64_t>(1, 80);
        const std::vector<double> expected = ends_by_recursion(model, frames);
        for (const SimStep& step : steps_of(model, frames)) {
            RC_ASSERT(step.end_us ==
                      doctest::Approx(expected[step.frame * model.stages.size() + step.stage]));
        }
    }));
}

TEST_CASE("the period is the slowest stage or the round of the tokens, whichever is longer") {
    CHECK(rc::check([] {
        const PipelineModel model = any_pipeline(false);
        const double expected = settled_period_us(model);
        RC_ASSERT(std::abs(simulate(model, 2000).period_us - expected) <= 0.01 * expected + 1e-9);
    }));
}

TEST_CASE("schedules bring their own rings, and the pool is threads and rings as in a run") {
    Schedule schedule = three_stages();
    CHECK(model_of(schedule, two_kinds()).tokens == 6);
    schedule.stages[0].sync_buff_size = 5;
    CHECK(model_of(schedule, two_kinds()).tokens == 10);
    CHECK(model_of(schedule, two_kinds(), {.ring_depth = 3}).tokens == 12);
    CHECK(model_of(schedule, two_kinds(), {.tokens = 2}).tokens == 2);
}

TEST_CASE("a schedule without hops runs at the period that the strategy promises") {
    const Chain chain = two_kinds();
    const Schedule schedule = herad(chain, {.big = 3, .little = 1});
    CHECK(simulate(model_of(schedule, chain), 1000).period_us == doctest::Approx(period_us(schedule, chain)));
}

TEST_CASE("a mixed schedule settles at its period with the frames that its words hold") {
    CHECK(rc::check([] {
        Chain chain{{"big", "little", "tiny"}, {}};
        const int tasks = *rc::gen::inRange(1, 6);
        for (int i = 0; i < tasks; ++i) {
            ChainTask task{fmt::format("t{}", i), *rc::gen::inRange(0, 4) > 0, {}};
            for (std::size_t kind = 0; kind < 3; ++kind) task.weight_us.push_back(*rc::gen::inRange(1, 60));
            chain.tasks.push_back(std::move(task));
        }
        Platform platform{.big = *rc::gen::inRange(1, 4), .little = *rc::gen::inRange(1, 4)};
        platform.set("tiny", *rc::gen::inRange(0, 3));
        const Schedule schedule = mixed(chain, platform);
        const PipelineModel model =
            model_of(schedule, chain, {.ring_depth = *rc::gen::inRange<std::size_t>(1, 3)});
        const double period = simulate(model, 4000).period_us;
        RC_ASSERT(std::abs(period - *schedule.period_us) <= 0.005 * period);
        RC_ASSERT(settled_period_us(model) == doctest::Approx(*schedule.period_us));
    }));
}

TEST_CASE("frames in flight make the period and the latency that schedules for latency promise") {
    CHECK(rc::check([] {
        Chain chain{{"big", "little"}, {}};
        const int tasks = *rc::gen::inRange(1, 7);
        for (int i = 0; i < tasks; ++i) {
            ChainTask task{fmt::format("t{}", i), *rc::gen::inRange(0, 3) > 0, {}};
            for (std::size_t kind = 0; kind < 2; ++kind) task.weight_us.push_back(*rc::gen::inRange(1, 60));
            chain.tasks.push_back(std::move(task));
        }
        const Platform platform{.big = *rc::gen::inRange(1, 4), .little = *rc::gen::inRange(0, 4)};
        const PacedSchedule made = *rc::gen::arbitrary<bool>()
                                       ? least_latency(chain, platform)
                                       : within_latency(*rc::gen::inRange(1, 400), chain, platform);
        const SimReport report = simulate(model_of(made.schedule, chain, {.tokens = made.frames}), 4000);
        RC_ASSERT(std::abs(report.period_us - made.period_us) <= 0.005 * made.period_us);
        RC_ASSERT(report.latency.mean_us <= 1.005 * made.latency_us);
        RC_ASSERT(report.latency.mean_us >= 0.995 * latency_us(made.schedule, chain));
    }));
}

TEST_CASE("a mixed stage's threads have kinds of their own: their watts and their work") {
    const Chain chain{{"big", "little"}, {{"work", true, {20, 40}}}};
    const MachineModel machine{
        .model = {.kinds = {{.kind = "big", .busy_w = 4}, {.kind = "little", .busy_w = 1}}}};
    const PipelineModel model = model_of(mixed(chain, {.big = 1, .little = 1}), chain, machine);
    CHECK(model.tokens == 3);
    const SimReport report = simulate(model, 3000);
    CHECK(report.stages[0].kind == "big+little");
    CHECK(report.stages[0].work_us == doctest::Approx(2000 * 20 + 1000 * 40));
    CHECK(report.energy_j == doctest::Approx((2000 * 20 * 4 + 1000 * 40 * 1) / 1e6));
    for (const SimStep& step : steps_of(model, 30)) {
        CHECK(step.thread == (step.frame % 3 == 1 ? 1 : 0));
        CHECK(step.end_us - step.begin_us == doctest::Approx(step.thread == 1 ? 40 : 20));
    }
}

TEST_CASE("work at cuts slows the stages on both sides, as the strategies' model has it") {
    const Chain chain = two_kinds();
    const MachineModel machine{.model = {.stage_us = 1, .hop_us = 5}};
    const SimReport report = simulate(model_of(three_stages(), chain, machine), 100);
    CHECK(report.stages[0].work_us == doctest::Approx(2600));
    CHECK(report.stages[1].work_us == doctest::Approx(5100));
    CHECK(report.stages[2].work_us == doctest::Approx(2100));
    CHECK(report.period_us == doctest::Approx(period_us(three_stages(), chain, machine.model)));
}

TEST_CASE("what HeRAD promises under a model is what its schedule settles at, shared cores included") {
    const Chain chain = two_kinds();
    for (const double hop_us : {0.0, 3.0}) {
        const MachineModel machine{
            .model = {.hop_us = hop_us, .kinds = {{.kind = "little", .shared_slowdown = 1.25}}}};
        const Schedule schedule = herad(chain, {.big = 1, .little = 2}, {}, machine.model);
        CHECK(std::ranges::any_of(schedule.stages, &Stage::shares_core));
        const PipelineModel model = model_of(schedule, chain, machine);
        CHECK(simulate(model, 2000).period_us == doctest::Approx(*schedule.period_us));
    }
}

TEST_CASE("two threads on one core draw the watts of one core and slow their kind down as one") {
    PipelineModel model = pipeline({stage(2, {10})}, 2);
    model.cores[0] = {.kind = "big", .busy_w = 4, .slowdown = {1, 2}};
    model.stages[0].shares_core = true;
    const SimReport shared = simulate(model, 200);
    CHECK(shared.period_us == doctest::Approx(5));
    CHECK(shared.mean_w == doctest::Approx(4));
    model.stages[0].shares_core = false;
    CHECK(simulate(model, 200).period_us == doctest::Approx(10));
    CHECK(simulate(model, 200).mean_w == doctest::Approx(8));
}

TEST_CASE("cores that are all at work run at the speed of all") {
    PipelineModel model = pipeline({stage(4, {40})}, 4);
    model.cores[0].slowdown = {1, 1 / 0.9, 1 / 0.85, 1 / 0.8};
    CHECK(simulate(model, 400).period_us == doctest::Approx(12.5));
    model.stages[0].threads = 1;
    model.tokens = 1;
    CHECK(simulate(model, 400).period_us == doctest::Approx(40));
}

TEST_CASE("a change of speed stretches only what is left of the work") {
    // Both begin at full agreement: at speed 0.5 until the short one has done its 10, then at speed 1.
    PipelineModel model = pipeline({stage(2, {10, 30})}, 2);
    model.cores[0].slowdown = {1, 2};
    const std::vector<SimStep> steps = steps_of(model, 2);
    CHECK(steps[0].end_us == doctest::Approx(20));
    CHECK(steps[1].end_us == doctest::Approx(40));
}

TEST_CASE("energy is watts by the time that cores work, wait and are not used") {
    MachineModel machine;
    machine.model.kinds = {{.kind = "big", .busy_w = 4, .idle_w = 1},
                           {.kind = "little", .busy_w = 1, .idle_w = 0.5}};
    machine.platform = {.big = 5, .little = 1};
    const SimReport report = simulate(model_of(three_stages(), two_kinds(), machine), 1000);
    const double run_s = report.elapsed_us / 1e6;
    const double big_work_s = 1000 * (40 + 15) / 1e6;
    const double little_work_s = 1000 * 20 / 1e6;
    CHECK(report.energy_j == doctest::Approx(big_work_s * 4 + (5 * run_s - big_work_s) * 1 +
                                             little_work_s * 1 + (run_s - little_work_s) * 0.5));
    CHECK(report.mean_w == doctest::Approx(report.energy_j / run_s));
    CHECK(report.mj_per_frame == doctest::Approx(report.energy_j));
}

TEST_CASE("a stage that spins draws full power while it waits") {
    MachineModel machine;
    machine.model.kinds = {{.kind = "big", .busy_w = 4}, {.kind = "little"}};
    Schedule schedule = three_stages();
    schedule.stages[1].waiting = WaitMode::active;  // the ring at which the third stage waits
    const SimReport report = simulate(model_of(schedule, two_kinds(), machine), 1000);
    CHECK(report.energy_j == doctest::Approx(4 * (1000 * 40 + report.elapsed_us) / 1e6));
}

TEST_CASE("jitter has mean one and the deviation asked for, and depends on the seed alone") {
    PipelineModel model = pipeline({stage(1, {100})}, 1);
    model.jitter = 0.3;
    std::vector<double> times;
    for (const SimStep& step : steps_of(model, 20000)) times.push_back(step.end_us - step.begin_us);
    const double mean = std::accumulate(times.begin(), times.end(), 0.0) / 20000;
    double squares = 0;
    for (const double time : times) squares += (time - mean) * (time - mean);
    CHECK(mean == doctest::Approx(100).epsilon(0.01));
    CHECK(std::sqrt(squares / 20000) == doctest::Approx(30).epsilon(0.03));
    CHECK(std::ranges::min(times) > 0);
    CHECK(simulate(model, 500).elapsed_us == simulate(model, 500).elapsed_us);
    const double first = simulate(model, 500).elapsed_us;
    model.seed = 2;
    CHECK(simulate(model, 500).elapsed_us != first);
}

TEST_CASE("deeper rings absorb jitter") {
    PipelineModel model = pipeline({stage(1, {10}), stage(1, {10}), stage(1, {10})}, 3);
    model.jitter = 0.5;
    const double shallow = simulate(model, 4000).period_us;
    model.tokens = 40;
    const double deep = simulate(model, 4000).period_us;
    CHECK(deep > 9.8);
    CHECK(deep < 10.8);
    CHECK(shallow > 1.2 * deep);
}

TEST_CASE("senseless models are refused by what is wrong") {
    const Chain chain = two_kinds();
    const auto error = [&](const MachineModel& machine) -> std::string {
        try {
            model_of(three_stages(), chain, machine);
        } catch (const ScheduleError& thrown) {
            return thrown.what();
        }
        return "";
    };
    CHECK(error({.hop_latency_us = -1}) == "the simulated machine's hop in us cannot be -1");
    CHECK(error({.jitter = std::nan("")}) == "the simulated machine's jitter cannot be nan");
    CHECK(error({.tokens = 0}) == "the simulated machine's number of tokens cannot be 0");
    CHECK(error({.model = {.kinds = {{.kind = "big", .slowdown = {0}}}}}).starts_with("model: slowdown 0"));
    CHECK(error({.model = {.kinds = {{.kind = "huge"}}}}).find("huge") != std::string::npos);
    CHECK_THROWS_AS(simulate(model_of(three_stages(), chain), 0), ScheduleError);
}

TEST_CASE("a thread with the first and the third stage does one at a time, the third first, and never less") {
    std::vector<StageModel> stages{stage(1, {30}), stage(1, {50}), stage(1, {20})};
    stages[0].owners = stages[2].owners = {0};
    const PipelineModel model = pipeline(stages, 6);
    CHECK(settled_period_us(model) == 50);
    CHECK(simulate(model, 400).period_us == doctest::Approx(50).epsilon(0.002));
    CHECK(simulate(pipeline(stages, 1), 40).period_us == doctest::Approx(100));
    double free_us = 0;
    for (const SimStep& step : steps_of(model, 100)) {
        if (step.stage == 1) continue;
        CHECK(step.begin_us >= free_us);
        free_us = step.end_us;
    }
}

TEST_CASE("a thread's idle watts count once, however many stages it has") {
    std::vector<StageModel> stages{stage(1, {30}), stage(1, {50}), stage(1, {20})};
    stages[0].owners = stages[2].owners = {0};
    PipelineModel model = pipeline(stages, 1);
    model.cores[0].busy_w = 2;
    model.cores[0].idle_w = 1;
    CHECK(simulate(model, 40).mean_w == doctest::Approx(3));  // one of the two works, always
}

TEST_CASE("what a thread with several stages does is told of the thread, by its name") {
    const Chain chain{{"big"}, {{"a", false, {30}}, {"b", false, {50}}, {"c", false, {20}}}};
    const SimReport report = simulate(model_of(packed(chain, {.big = 2}), chain), 1000);
    REQUIRE(report.owners.size() == 1);
    const SimOwnerReport& owner = report.owners.front();
    CHECK(owner.stages == std::vector<std::size_t>{0, 2});
    CHECK(owner.work_us == doctest::Approx(50'000));
    CHECK(owner.occupancy == doctest::Approx(1).epsilon(0.01));
    CHECK(to_table(report).find(owner.name + " has stages 1, 3: 50.00 us a frame, occupied ") !=
          std::string::npos);
}

TEST_CASE("packed schedules settle near their period") {
    std::mt19937_64 random(5);
    for (int i = 0; i < 20; ++i) {
        Chain chain{{"big", "little"}, {}};
        for (int task = 0; task < 8; ++task) {
            const auto weight = static_cast<double>(1 + random() % 100);
            chain.tasks.push_back({fmt::format("t{}", task), random() % 2 == 0, {weight, 2 * weight}});
        }
        const Schedule schedule = packed(chain, {.big = 1, .little = 1});
        const PipelineModel model = model_of(schedule, chain);
        CHECK(simulate(model, 2000).period_us <= *schedule.period_us * 1.06);
        CHECK(simulate(model, 2000).period_us >= *schedule.period_us * 0.98);
    }
}

}  // namespace tidemill
