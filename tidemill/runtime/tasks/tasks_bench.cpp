// Cost of a task of a program with in, out and inout, beside OpenMP.
#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/runtime/tasks/tasks.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

constexpr std::size_t kCells = 8;
constexpr int kRounds = 7;
constexpr std::size_t kWorkers = 2;

// A wavefront: every step changes each cell by its neighbour, so a task waits for two others.
double tidemill_ns(std::uint64_t steps) {
    std::vector<std::uint64_t> cells(kCells + 1, 1);
    Tasks tasks({.workers = kWorkers});
    const bench::Stopwatch watch;
    for (std::uint64_t step = 0; step < steps; ++step) {
        for (std::size_t c = 0; c < kCells; ++c) {
            std::uint64_t* cell = &cells[c];
            tasks.spawn({reads(cell[0]), updates(cell[1])}, [cell] { cell[1] += cell[0]; });
        }
    }
    tasks.wait();
    const double elapsed = watch.ns();
    if (cells[1] != steps + 1) throw std::logic_error("tasks are missing");
    return elapsed / static_cast<double>(steps * kCells);
}

#ifdef _OPENMP
double openmp_ns(std::uint64_t steps) {
    static std::uint64_t cells[kCells + 1];  // C arrays: GCC 12 takes no others as list items of depend
    std::fill(std::begin(cells), std::end(cells), 1);
    const bench::Stopwatch watch;
#pragma omp parallel num_threads(kWorkers)
#pragma omp single
    for (std::uint64_t step = 0; step < steps; ++step) {
        for (std::size_t c = 0; c < kCells; ++c) {
#pragma omp task depend(in : cells[c]) depend(inout : cells[c + 1]) firstprivate(c)
            cells[c + 1] += cells[c];
        }
    }
    const double elapsed = watch.ns();
    if (cells[1] != steps + 1) throw std::logic_error("tasks are missing");
    return elapsed / static_cast<double>(steps * kCells);
}
#else
double openmp_ns(std::uint64_t) {
    return 0;
}
#endif

[[maybe_unused]] const bool kAsked = bench::ask(
    {"tasks/dependent",
     "What does spawning and running an empty task cost on two threads under gpriority, one of them "
     "the program's?\nBeside it the same as OpenMP tasks with depend; 0 where the compiler has none.",
     "ns a task", "OpenMP"});

void dependent_tasks(benchmark::State& state) {
    constexpr std::uint64_t kSteps = 50'000;
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) ratio.add(tidemill_ns(kSteps), openmp_ns(kSteps / 10));
    }
    ratio.report(state, {.target = 120});
}

BENCHMARK(dependent_tasks)->Name("tasks/dependent/gpriority")->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tidemill
