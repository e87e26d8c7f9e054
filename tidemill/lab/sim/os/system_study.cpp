#include "tidemill/lab/sim/os/system_study.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "tidemill/lab/sim/cpi_stack.hpp"
#include "tidemill/lab/sim/os/scheduler.hpp"
#include "tidemill/lab/sim/sim_error.hpp"

namespace tidemill::os {

namespace {

constexpr double kStart_s = 0.01;  // within which all programs begin
constexpr std::uint64_t kRunsBefore = 4;
constexpr std::size_t kBlock = 12;

// Programs for as many runs in a row as there are cores, each of which starts a program near another core,
// all else being equal.
std::vector<Program> started(const Experiment& experiment, std::uint64_t seed, std::uint64_t run) {
    const auto cores = static_cast<std::uint32_t>(std::max<std::size_t>(1, experiment.machine.cores.size()));
    std::seed_seq seeds{seed, run / cores};
    std::mt19937_64 random(seeds);
    std::uniform_real_distribution<double> start_s(0, kStart_s);
    std::uniform_int_distribution<std::uint32_t> near(0, cores - 1);
    std::vector<Program> programs = experiment.programs;
    for (Program& program : programs) {
        program.arrival_s += start_s(random);
        program.near = (near(random) + static_cast<std::uint32_t>(run % cores)) % cores;
    }
    return programs;
}

Outcome run_once(const Experiment& experiment, Bridged bridged, const std::vector<Program>& programs) {
    const std::unique_ptr<Scheduler> scheduler = make_scheduler(experiment.scheduler);
    return System(experiment.machine, programs, *scheduler, bridged).run();
}

std::unique_ptr<bridge::Layer> layer_of(const Experiment& experiment, std::uint64_t seed) {
    if (!experiment.model) return nullptr;
    auto layer = std::make_unique<bridge::Layer>(experiment.programs.size(), experiment.machine.kinds.size(),
                                                 experiment.model);
    for (std::uint64_t i = 0; i < kRunsBefore; ++i) {
        run_once(experiment, {.layer = layer.get(), .factors_used = false}, started(experiment, ~seed, i));
    }
    return layer;
}

void add(Measured& measured, const Outcome& outcome, double runs) {
    double least = outcome.turnaround_s[0] / measured.alone_s[0];
    double most = least;
    for (std::size_t i = 0; i < measured.alone_s.size(); ++i) {
        const double slowdown = outcome.turnaround_s[i] / measured.alone_s[i];
        least = std::min(least, slowdown);
        most = std::max(most, slowdown);
    }
    measured.turnarounds_s.push_back(outcome.turnaround_s);
    measured.makespan_s += outcome.makespan_s / runs;
    measured.unfairness += most / least / runs;
    measured.slowdown += most / runs;
    measured.migrations += static_cast<double>(outcome.migrations) / runs;
}

std::vector<double> ratios(const std::vector<double>& before, const std::vector<double>& after) {
    std::vector<double> ratios(before.size());
    std::ranges::transform(before, after, ratios.begin(), std::divides{});
    return ratios;
}

double geometric_mean(const std::vector<double>& values) {
    double logarithms = 0;
    for (const double value : values) logarithms += std::log(value);
    return std::exp(logarithms / static_cast<double>(values.size()));
}

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
    if (values.size() < 2) return 0;
    double squares = 0;
    for (const double value : values) squares += (value - mean(values)) * (value - mean(values));
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double deviation_of_blocks(const Measured& before, const Measured& after) {
    const std::size_t runs = std::min(before.turnarounds_s.size(), after.turnarounds_s.size());
    std::vector<double> gains;
    for (std::size_t first = 0; first + kBlock <= runs; first += kBlock) {
        gains.push_back(geometric_mean(
            ratios(before.mean_turnarounds_s(first, kBlock), after.mean_turnarounds_s(first, kBlock))));
    }
    return deviation(gains);
}

}  // namespace

bridge::Model paper_model(const Machine& machine, std::span<const double> cpu_factors) {
    bridge::CpiMachine cores;
    for (std::size_t kind = 0; kind < machine.kinds.size(); ++kind) {
        cores.capacities.push_back(1 / cpu_factors[kind]);
        cores.penalty_cycles.push_back(System::kMiss_ns * machine.kinds[kind].clock_ghz);
    }
    return bridge::cpi_stack(std::move(cores));
}

bridge::Model paper_model(const Machine& machine) {
    std::vector<double> factors;
    for (const CoreKind& kind : machine.kinds) factors.push_back(1 / kind.speed);
    return paper_model(machine, factors);
}

std::vector<double> Measured::mean_turnarounds_s(std::size_t first, std::size_t runs) const {
    std::vector<double> means(alone_s.size());
    for (std::size_t run = first; run < first + runs; ++run) {
        for (std::size_t i = 0; i < means.size(); ++i) {
            means[i] += turnarounds_s[run][i] / static_cast<double>(runs);
        }
    }
    return means;
}

Measured measure(const Experiment& experiment, std::size_t runs, std::uint64_t seed) {
    if (runs == 0 || experiment.programs.empty()) throw SimError("measure one run of one program at least");
    Measured measured;
    for (const Program& program : experiment.programs) measured.alone_s.push_back(program.alone_s());
    const std::unique_ptr<bridge::Layer> layer = layer_of(experiment, seed);
    for (std::size_t run = 0; run < runs; ++run) {
        const Bridged bridged{.layer = layer.get(), .exchanges = experiment.exchanges};
        add(measured, run_once(experiment, bridged, started(experiment, seed, run)),
            static_cast<double>(runs));
    }
    return measured;
}

std::vector<double> gains(const Measured& before, const Measured& after) {
    std::vector<double> gains = ratios(before.mean_turnarounds_s(), after.mean_turnarounds_s());
    for (double& gain : gains) gain -= 1;
    return gains;
}

Gain gain(const Measured& before, const Measured& after) {
    const std::vector<double> by_program = ratios(before.mean_turnarounds_s(), after.mean_turnarounds_s());
    const std::size_t runs = std::min(before.turnarounds_s.size(), after.turnarounds_s.size());
    double published = 0;
    for (std::size_t run = 0; run < runs; ++run) {
        published += mean(ratios(before.turnarounds_s[run], after.turnarounds_s[run]));
    }
    return {.geometric = geometric_mean(by_program) - 1,
            .published = published / static_cast<double>(runs) - 1,
            .makespan = before.makespan_s / after.makespan_s - 1,
            .least = *std::ranges::min_element(by_program) - 1,
            .of_twelve = deviation_of_blocks(before, after)};
}

}  // namespace tidemill::os
