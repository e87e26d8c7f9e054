#pragma once

#include <cstdint>
#include <string>

#include "tidemill/lab/sim/task_simulator.hpp"
#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill::cli {

/// A profile's chain as tasks, on modelled cores or on those of this machine, and how near its period comes
/// to the bound.
struct ProfileTasks {
    Profile profile;
    std::string cores;             ///< "big=2,little=2"; empty: those that the profile names
    bool simulated = false;        ///< else on real workers, all of whose kinds are emulated
    std::uint64_t iterations = 0;  ///< 0: as many as suit
    TaskMachine machine;           ///< what is modelled of it
    TaskScheduling scheduling;

    /// Prints the report. Throws WrongUsage for cores that the profile does not weigh.
    int run(bool json) const;
};

}  // namespace tidemill::cli
