#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/lab/sim/os/machine.hpp"
#include "tidemill/lab/sim/os/program.hpp"
#include "tidemill/lab/sim/os/system.hpp"
#include "tidemill/steer/layer.hpp"

namespace tidemill::os {

/// Programs on a machine under a scheduler, with a layer or without.
struct Experiment {
    Machine machine{};
    std::vector<Program> programs{};
    std::string_view scheduler{};
    bridge::Model model{};  ///< none: without a layer
    bool exchanges = true;  ///< else the layer only scales loads
};

/// The paper's model on a machine of which it is said how much faster a big core is than each kind: its CPU
/// factor. A miss costs there what it costs in a System.
bridge::Model paper_model(const Machine& machine, std::span<const double> cpu_factors);
/// With the speeds that the machine has.
bridge::Model paper_model(const Machine& machine);

/// Many runs of an experiment. In each the programs start within 10 ms, in an order and next to cores that
/// the seed decides.
struct Measured {
    std::vector<std::vector<double>> turnarounds_s;  ///< [run][program]
    std::vector<double> alone_s;                     ///< of each program, on a big core of its own
    double makespan_s = 0;                           ///< means of all runs from here on
    double unfairness = 0;                           ///< largest slowdown of a program over the smallest
    double slowdown = 0;                             ///< largest slowdown of a program
    double migrations = 0;

    /// Mean of each program, over so many runs from one on.
    std::vector<double> mean_turnarounds_s(std::size_t first, std::size_t runs) const;
    std::vector<double> mean_turnarounds_s() const { return mean_turnarounds_s(0, turnarounds_s.size()); }
};

/// A layer has seen the programs before, in four runs without making use of it. Throws SimError where a
/// system cannot be, and for no runs.
Measured measure(const Experiment& experiment, std::size_t runs, std::uint64_t seed);

/// How much faster programs are in one measurement than in another, as a share: 0.1 is ten percent.
struct Gain {
    double geometric = 0;  ///< of mean turnarounds, over all programs
    double published = 0;  ///< the paper's: mean over programs and runs of the ratios of single runs
    double makespan = 0;
    double least = 0;  ///< of the program that gains least
    double of_twelve =
        0;  ///< standard deviation of `geometric` from twelve runs to the next twelve; 0: too few
};
Gain gain(const Measured& before, const Measured& after);

/// Gain of each program, by its mean turnarounds.
std::vector<double> gains(const Measured& before, const Measured& after);

}  // namespace tidemill::os
