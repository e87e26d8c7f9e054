#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace tidemill {

/// One way in which tasks may use the cores of a pool: a task at work takes `share` of its units.
struct Way {
    std::size_t pool = 0;
    double share = 1;
};

/// Work that may be split freely over several ways, frame by frame.
struct SplitWork {
    std::vector<Way> ways;
    std::vector<double> pool_units;  // [pool]: above 0
    std::vector<double> weights;     // [task x ways + way]: at least 0; infinite where the task cannot go
    std::vector<bool> sequential;    // [task]: works on one frame at a time

    double weight(std::size_t task, std::size_t way) const { return weights[task * ways.size() + way]; }
};

/// The least period of split work, and why it is not less.
struct LeastPeriod {
    double period = 0;
    std::vector<double> prices;  // [pool]: of a unit of its cores; all units together cost 1
    std::optional<std::size_t>
        sequential;  // the task that could gain most if it worked on two frames at once
};

/// The least P such that all work fits the pools' units x P and each sequential task fits P, wherever its
/// frames go. At most ten times the tolerance too low, and never above the truth by more than rounding
/// errors.
///
/// For one P the sequential tasks' splits have few corners each, and what the pools then need is a small
/// linear programme (LoadMix). As its value is convex in P, Newton's method climbs to the P that needs no
/// more than P from below, in finitely many steps.
LeastPeriod least_period(const SplitWork& work, double tolerance = 1e-12);

}  // namespace tidemill
