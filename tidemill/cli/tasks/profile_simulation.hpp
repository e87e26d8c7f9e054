#pragma once

#include <cstdint>
#include <string>

#include "tidemill/schedule/chain.hpp"
#include "tidemill/sim/task_simulator.hpp"

namespace tidemill::cli {

/// A profile's chain as tasks on modelled cores, and how near its period comes to the bound.
struct ProfileSimulation {
    Profile profile;
    std::string cores;  ///< "big=2,little=2"; empty: those that the profile names
    std::uint64_t iterations = 600;
    TaskMachine machine;
    TaskScheduling scheduling;

    /// Prints the report. Throws WrongUsage for cores that the profile does not weigh.
    int run(bool json) const;
};

}  // namespace tidemill::cli
