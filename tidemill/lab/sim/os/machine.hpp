#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill::os {

/// A core of a simulated machine, from 0 on.
using CoreId = std::uint32_t;
/// A program in its place in the list that is run, from 0 on.
using TaskId = std::uint32_t;
using policy::KindId;

/// A kind of cores.
struct CoreKind {
    std::string name;
    double speed = 1;                 ///< of compute-bound work at full frequency, of that of kind 0
    double clock_ghz = 1;             ///< at full frequency
    std::vector<double> steps = {1};  ///< frequencies that it can have, as shares of the full one, rising

    /// Capacity that the system believes: 1024 for the fastest.
    double capacity() const { return 1024 * speed; }
};

/// Cores of several kinds. Kind 0 is the big one, to which speeds and factors refer.
struct Machine {
    std::vector<CoreKind> kinds{};
    std::vector<KindId> cores{};  ///< the kind of each
    bool follows_load = false;    ///< DVFS: a core's frequency follows its load; else it is the full one
    double migration_us = 25;     ///< of a big core's work that moving to another core costs a program

    const CoreKind& kind_of(CoreId core) const { return kinds[cores[core]]; }
};

/// So many big cores of speed 1, and little ones of another.
inline Machine big_little(std::size_t big, std::size_t little, CoreKind of_big, CoreKind of_little) {
    Machine machine;
    machine.kinds = {std::move(of_big), std::move(of_little)};
    machine.cores.assign(big, 0);
    machine.cores.insert(machine.cores.end(), little, 1);
    return machine;
}

}  // namespace tidemill::os
