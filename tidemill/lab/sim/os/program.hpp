#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/lab/sim/os/machine.hpp"

namespace tidemill::os {

/// A stretch of a program that works alike all the time, and a sleep after it.
struct Phase {
    double work_s = 0;      ///< on a core of kind 0 at full frequency
    double core_bound = 1;  ///< share of that time that a slower core makes longer; the rest waits for memory
    double sleep_s = 0;
    /// How many times longer the core-bound share takes on other kinds than their speed says: pipelines
    /// differ, and counters do not see it.
    double pipeline = 1;

    /// How many times longer the work takes on a core of that kind and speed.
    double slowdown(KindId kind, double speed) const {
        return core_bound * (kind == 0 ? 1 : pipeline) / speed + 1 - core_bound;
    }
};

/// An ordinary program of one thread.
struct Program {
    std::string name;
    std::vector<Phase> phases;
    std::size_t rounds = 1;  ///< that it goes through its phases
    double arrival_s = 0;
    std::uint32_t near = 0;  ///< the core that its parent runs on
    double weight = 1024;    ///< by its priority

    double work_s() const {
        double sum = 0;
        for (const Phase& phase : phases) sum += phase.work_s;
        return sum * static_cast<double>(rounds);
    }
    /// How many times longer all of its work takes on a core of that kind and speed.
    double slowdown(KindId kind, double speed) const {
        double sum_s = 0;
        for (const Phase& phase : phases) sum_s += phase.work_s * phase.slowdown(kind, speed);
        return sum_s * static_cast<double>(rounds) / work_s();
    }
    /// From its start to its end, alone on a core of kind 0.
    double alone_s() const {
        double sum = 0;
        for (const Phase& phase : phases) sum += phase.work_s + phase.sleep_s;
        return sum * static_cast<double>(rounds);
    }
};

}  // namespace tidemill::os
