#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidemill/run/job/forecast.hpp"
#include "tidemill/run/job/how_to_run.hpp"

namespace tidemill {

/// Which way to run a graph was chosen, and among which.
struct Choice {
    /// A way to run a graph.
    struct Way {
        Executor executor = Executor::sequence;
        std::string policy{};                ///< of dynamic workers
        std::optional<Schedule> schedule{};  ///< of stages

        /// "in order", "pipeline of 3 stages", "thread per task", "dynamic (gpriority)".
        std::string name() const;
    };

    struct Tried {
        std::string name;
        double period_us = 0;
    };

    Way way{};
    std::vector<Tried> tried{};          ///< on the stream; the one that was chosen first
    double bound_us = 0;                 ///< see bound_of(); 0: not known
    std::optional<Forecast> forecast{};  ///< of the rest of the stream
    bool is_remembered = false;          ///< it was made in another run

    /// "dynamic (gpriority): 171.00 us; pipeline of 2 stages 262.00; in order 319.00; bound 168.00".
    std::string line() const;
};

}  // namespace tidemill
