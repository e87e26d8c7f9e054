#include "tidemill/lab/programs/real_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "tidemill/lab/programs/matrix_tiles.hpp"
#include "tidemill/lab/programs/numbered_run.hpp"
#include "tidemill/lab/programs/stream_graph.hpp"
#include "tidemill/lab/programs/task_record.hpp"
#include "tidemill/lab/programs/wave_tiles.hpp"
#include "tidemill/lab/sim/streamit.hpp"
#include "tidemill/lab/sim/task_graphs.hpp"
#include "tidemill/machine/side_by_side.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/tasks/tasks.hpp"

namespace tidemill {

namespace {

constexpr std::uint64_t kTileSize = 32;
constexpr std::uint64_t kLeastIterations = 20;
// Rounding of a few hundred terms; a wrong tile is off by thousandths at least.
constexpr double kMostResidual = 1e-12;

template <class Work>
double time_us(Work work) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    work();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// As many as take each worker, or each core where they compute, about a second.
std::uint64_t iterations_for(double iteration_us, const RealRunOptions& options) {
    const bool waits = options.pastime == Pastime::waiting;
    const auto at_once =
        static_cast<double>(waits ? options.workers : std::min(options.workers, cores_to_use()));
    return std::max(kLeastIterations, static_cast<std::uint64_t>(std::ceil(1e6 * at_once / iteration_us)));
}

// In order, what waits need not.
Pastime in_order(Pastime pastime) {
    return pastime == Pastime::waiting ? Pastime::none : pastime;
}

void check(const RealRun& run, std::uint64_t digest, std::uint64_t expected) {
    if (digest == expected) return;
    throw WrongResult(
        fmt::format("{} came out otherwise than in order: {:016x}, not {:016x}", run.name, digest, expected));
}

TasksOptions tasks_options(const RealRunOptions& options) {
    TasksOptions chosen{.workers = options.workers, .policy = options.policy};
    chosen.window.iterations = options.window.iterations;
    chosen.window.bytes = options.window.bytes;
    if (options.window.tasks != policy::Window::kUnlimited) chosen.window.tasks = options.window.tasks;
    chosen.adapting = options.adapting;
    return chosen;
}

// Runs `spawn` with Tasks, and notes what came of it.
template <class Spawn>
void run_tasks(const RealRunOptions& options, RealRun& run, Spawn spawn) {
    TasksOptions chosen = tasks_options(options);
    TaskRecord record(options.workers);
    if (options.record) chosen.observe = [&](const ObservedTask& task) { record.add(task); };
    Tasks tasks(chosen);
    TasksReport report;
    run.makespan_us = time_us([&] {
        spawn(tasks);
        report = tasks.wait();
    });
    run.tasks = report.ran;
    run.in_tasks_us = report.work_us;
    run.peak_tasks = tasks.most_in_flight();
    run.record = record.tasks();
}

RealRun run_stream(std::string_view name, const TaskProgramSize& size, const RealRunOptions& options) {
    StreamGraph stream = streamit_graph(name);
    const auto types = static_cast<double>(stream.types.size());
    const double iteration_us = size.task_us * types;
    const double factor = iteration_us / stream.work_us();
    for (StreamTaskType& type : stream.types) type.work_us *= factor;
    RealRun run{.name = std::string(name), .workers = options.workers};
    run.iterations = size.iterations > 0 ? size.iterations : iterations_for(iteration_us, options);

    StreamModules modules(stream, options.pastime);
    Dynamic dynamic(modules.graph(), {.workers = options.workers,
                                      .policy = options.policy,
                                      .window = options.window,
                                      .adapting = options.adapting});
    TaskRecord record(options.workers);
    RunOptions observed{.frames = run.iterations};
    if (options.record) observed.observers.push_back(&record);
    const RunReport report = dynamic.run(observed);
    run.record = record.tasks();
    for (const TaskReport& task : report.tasks) {
        run.tasks += task.calls.count;
        run.types.push_back(task.name);
    }
    run.makespan_us = 1e6 * report.elapsed_s;
    for (const StageReport& stage : report.stages) {
        for (const ThreadReport& thread : stage.threads) run.in_tasks_us += thread.work_us;
    }
    run.mean_latency_us = report.latency.mean_us;
    run.most_latency_us = report.latency.most_us;
    run.token_bytes = report.token_bytes();

    StreamModules expected(stream, in_order(options.pastime));
    run.work_us = 1e6 * Sequence(expected.graph()).run({.frames = run.iterations}).elapsed_s;
    if (options.pastime == Pastime::waiting) run.work_us = iteration_us * static_cast<double>(run.iterations);
    check(run, modules.digest(), expected.digest());
    return run;
}

double work_of(TaskProgram& program) {
    program.restart();
    ProgramTask task;
    double sum = 0;
    for (std::uint64_t i = 0; i < program.tasks(); ++i) {
        program.next(task);
        sum += task.work_us;
    }
    return sum;
}

RealRun run_worst_case(std::string_view name, TaskProgramSize size, const RealRunOptions& options) {
    constexpr double kUnitUs = 1000;  // of their task types
    const double factor = size.task_us / kUnitUs;
    if (size.iterations == 0) {
        size.iterations = kLeastIterations;
        const double sample_us = factor * work_of(*make_task_program(name, size));
        size.iterations = iterations_for(sample_us / static_cast<double>(kLeastIterations), options);
    }
    const auto program = make_task_program(name, size);
    RealRun run{.name = std::string(name), .workers = options.workers, .iterations = program->iterations()};
    run.types = program->types();
    NumberedRun in_tasks(*program, options.window.iterations, options.pastime, factor);
    run_tasks(options, run, [&](Tasks& tasks) { in_tasks.run(&tasks); });
    NumberedRun expected(*program, options.window.iterations, in_order(options.pastime), factor);
    run.work_us = time_us([&] { expected.run(nullptr); });
    if (options.pastime == Pastime::waiting) run.work_us = factor * work_of(*program);
    check(run, in_tasks.digest(), expected.digest());
    return run;
}

// `add` gives the program's tasks; `tiles` and `expected` are alike.
template <class Add>
RealRun run_tiles(TaskProgram& program, const TaskProgramSize& size, const RealRunOptions& options, Add add,
                  Tiles& tiles, Tiles& expected) {
    RealRun run{.name = program.name(), .workers = options.workers, .iterations = program.iterations()};
    run.types = program.types();
    const bool waits = options.pastime == Pastime::waiting;
    const double waited_us = size.task_us * static_cast<double>(program.tasks());
    const double factor = waits ? waited_us / work_of(program) : 0;
    run_tasks(options, run, [&](Tasks& tasks) {
        TileRun spawned(tiles, &tasks, program.types(), options.pastime, factor);
        add(spawned);
    });
    run.work_us = time_us([&] {
        TileRun sequence(expected, nullptr, program.types(), Pastime::none, 0);
        add(sequence);
    });
    if (waits) run.work_us = waited_us;
    check(run, tiles.digest(), expected.digest());
    return run;
}

template <class MatrixTilesOf, class Add>
RealRun run_matrix(std::unique_ptr<TaskProgram> program, const TaskProgramSize& size,
                   const RealRunOptions& options, Add add) {
    MatrixTilesOf tiles(size.blocks, kTileSize);
    MatrixTilesOf expected(size.blocks, kTileSize);
    RealRun run = run_tiles(
        *program, size, options, [&](TileTasks& tasks) { add(tasks, size.blocks, kTileSize); }, tiles,
        expected);
    run.residual = tiles.residual();
    if (*run.residual < kMostResidual) return run;
    throw WrongResult(fmt::format("{}: the product of the factors is off by {} of the largest number",
                                  run.name, *run.residual));
}

RealRun run_wave(const TaskProgramSize& size, const RealRunOptions& options) {
    const auto program = make_task_program("h264", size);
    const std::uint64_t frames = program->iterations();
    const std::uint64_t kept = 2 + std::min({options.window.iterations, frames, std::uint64_t{16}});
    WaveTiles tiles(frames, kept);
    WaveTiles expected(frames, kept);
    return run_tiles(
        *program, size, options,
        [&](TileTasks& tasks) {
            for (std::uint64_t frame = 0; frame < frames; ++frame) h264_wave::add_frame(tasks, frame);
        },
        tiles, expected);
}

}  // namespace

RealRun run_for_real(std::string_view name, TaskProgramSize size, const RealRunOptions& options) {
    const ExactSleep exact;
    if (std::ranges::count(streamit_names(), name) > 0) return run_stream(name, size, options);
    if (name == "cholesky") {
        return run_matrix<CholeskyTiles>(cholesky(size.blocks, kTileSize), size, options,
                                         tiled_matrix::add_cholesky);
    }
    if (name == "check-lu") {
        return run_matrix<LuTiles>(check_lu(size.blocks, kTileSize), size, options,
                                   tiled_matrix::add_check_lu);
    }
    if (name == "h264") return run_wave(size, options);
    return run_worst_case(name, size, options);
}

}  // namespace tidemill
