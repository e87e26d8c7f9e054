#include "tidemill/lab/sim/task_programs.hpp"

#include <map>
#include <string>

#include <doctest/doctest.h>

#include "tidemill/lab/sim/streamit.hpp"
#include "tidemill/lab/sim/task_graphs.hpp"
#include "tidemill/lab/sim/task_simulator.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {

namespace {

std::map<std::string, std::uint64_t> tasks_by_type(TaskProgram& program) {
    std::map<std::string, std::uint64_t> tasks;
    ProgramTask task;
    for (std::uint64_t i = 0; i < program.tasks(); ++i) {
        program.next(task);
        ++tasks[program.types()[task.type]];
    }
    program.restart();
    return tasks;
}

double settled(const StreamGraph& graph, unsigned workers, const char* policy) {
    const auto program = stream_program(graph, 1500);
    return simulate_tasks(*program, {.speeds = std::vector<double>(workers, 1.0)},
                          {.policy = policy, .window = {.iterations = 8}})
        .settled_utilisation;
}

}  // namespace

TEST_CASE(
    "the twelve StreamIt benchmarks have the work and the firings of an iteration that they were counted "
    "with") {
    const std::map<std::string_view, std::pair<double, std::uint64_t>> expected{
        {"beamformer", {110884, 104}}, {"bitonic-sort", {1248, 72}}, {"channelvocoder", {1355097, 1886}},
        {"dct", {147072, 1090}},       {"des", {27246, 991}},        {"fft", {160501, 1406}},
        {"filterbank", {399720, 512}}, {"fm", {20558, 47}},          {"mpeg2", {87715, 2273}},
        {"serpent", {95840, 3995}},    {"tde", {934358, 5027}},      {"vocoder", {15504, 414}}};
    REQUIRE(streamit_names().size() == 12);
    for (const std::string_view name : streamit_names()) {
        CAPTURE(name);
        const StreamGraph graph = streamit_graph(name);
        CHECK(graph.work_us() == expected.at(name).first);
        CHECK(graph.tasks() == expected.at(name).second);
        CHECK(stream_program(graph, 3)->tasks() == 3 * graph.tasks());
    }
}

TEST_CASE("fm with all task types serial exhausts oldest on 8 workers, and apriority cures it") {
    const StreamGraph fm = with_mean_task(all_stateful(streamit_graph("fm")), 1000);
    CHECK(settled(fm, 8, "oldest") == doctest::Approx(0.933).epsilon(0.02));
    CHECK(settled(fm, 8, "apriority") > 0.99);
    CHECK(settled(fm, 8, "gpriority") > 0.98);
}

TEST_CASE("Cholesky of 16 x 16 tiles has n, n(n-1)/2, n(n-1)/2 and n(n-1)(n-2)/6 tasks of its kinds") {
    const auto program = cholesky(16);
    CHECK(tasks_by_type(*program) ==
          std::map<std::string, std::uint64_t>{{"potrf", 16}, {"trsm", 120}, {"syrk", 120}, {"gemm", 560}});
}

TEST_CASE("with as many workers as it likes, Cholesky takes the time of its critical path") {
    const auto program = cholesky(16);
    const SimulatedTasks report = simulate_tasks(*program, {.speeds = std::vector<double>(200, 1.0)}, {});
    // A potrf, then trsm and gemm of 14 columns, then trsm, syrk and potrf of the last two.
    const double tile_us = 32.0 * 32 * 32 / 1000;
    CHECK(report.makespan_us == doctest::Approx(tile_us * (1 / 3.0 + 14 * (1 + 2) + 1 + 1 + 1 / 3.0)));
}

TEST_CASE("sparse LU copies the tiles that are there, compares all, and multiplies where both factors are") {
    const auto tasks = tasks_by_type(*check_lu(4));
    // 16 tiles have copies: 4 on the diagonal, 6 beside it, (0,2) and (2,0); (2,3), (3,2) are beside it.
    CHECK(tasks.at("copy") == 12);
    CHECK(tasks.at("lu") == 4);
    CHECK(tasks.at("compare") == 16);
}

TEST_CASE("a frame of the decoder has one scan, 136 entropy decodings and 527 tiles decoded and deblocked") {
    const auto program = h264(3);
    CHECK(tasks_by_type(*program) ==
          std::map<std::string, std::uint64_t>{
              {"scan", 3}, {"entropy-decode", 408}, {"macroblock-decode", 1581}, {"deblock", 1581}});
    CHECK(program->iterations() == 3);
}

TEST_CASE("frames of the decoder overlap: on many workers three take much less than three times one") {
    const TaskMachine many{.speeds = std::vector<double>(256, 1.0)};
    const double one_us = simulate_tasks(*h264(1), many, {}).makespan_us;
    CHECK(simulate_tasks(*h264(3), many, {}).makespan_us < 1.5 * one_us);
}

TEST_CASE("every program can be made by its name and run, and a wrong name is told the right ones") {
    for (const TaskProgramName& each : task_programs()) {
        CAPTURE(each.name);
        const auto program = make_task_program(each.name, {.iterations = 2, .workers = 3});
        const SimulatedTasks report = simulate_tasks(*program, {.speeds = {1, 1, 1}}, {});
        CHECK(report.tasks == program->tasks());
        CHECK(report.utilisation > 0);
    }
    CHECK_THROWS_WITH_AS(make_task_program("quicksort"), doctest::Contains("take one of beamformer"),
                         ScheduleError);
}

}  // namespace tidemill
