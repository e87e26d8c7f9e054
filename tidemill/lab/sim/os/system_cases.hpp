#pragma once

#include <random>
#include <vector>

#include <fmt/format.h>

#include "tidemill/lab/sim/os/cfs.hpp"
#include "tidemill/lab/sim/os/system.hpp"

// Common parts of the tests of simulated systems.
namespace tidemill::os {

/// A program that works so long on a big core.
inline Program work(double work_s, double core_bound = 1) {
    return {.name = fmt::format("{} s, {}", work_s, core_bound), .phases = {{work_s, core_bound}}};
}

inline Machine two_cores() {
    return big_little(1, 1, {.name = "big"}, {.name = "little", .speed = 0.25});
}

inline Machine four_cores() {
    return big_little(1, 3, {.name = "big"}, {.name = "little", .speed = 0.25});
}

/// Programs of all sorts: some sleep, some come late.
inline std::vector<Program> mix(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit;
    std::vector<Program> programs;
    for (std::size_t i = 0; i < count; ++i) {
        Program program = work(0.1 + unit(random), unit(random));
        program.name += fmt::format(", {}", i);
        program.near = static_cast<CoreId>(random() % 4);
        program.arrival_s = i % 3 == 0 ? unit(random) : 0;
        program.weight = i % 4 == 0 ? 3121 : 1024;
        if (i % 5 == 0) program.phases.push_back({0.02, 1, 0.05});
        programs.push_back(program);
    }
    return programs;
}

/// A scheduler under which programs start where a test wants them.
template <typename Made>
class Placed : public Made {
  public:
    explicit Placed(std::vector<CoreId> cores) : cores_(std::move(cores)) {}
    CoreId place_new(const System&, TaskId task, CoreId) override { return cores_[task]; }

  private:
    std::vector<CoreId> cores_;
};

template <typename Made>
Outcome run_placed(const Machine& machine, const std::vector<Program>& programs, std::vector<CoreId> cores,
                   Bridged bridged = {}) {
    Placed<Made> scheduler(std::move(cores));
    return System(machine, programs, scheduler, bridged).run();
}

}  // namespace tidemill::os
