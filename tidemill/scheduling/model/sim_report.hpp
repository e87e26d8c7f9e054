#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemill {

/// Work of a stage during a simulated run, all of its threads together.
struct SimStageReport {
    std::size_t threads = 0;
    std::string kind;
    std::uint64_t frames = 0;
    double work_us = 0;
    double occupancy = 0;  ///< share of the run that its threads worked
};

/// Work of a thread that stages name, in all of its stages together.
struct SimOwnerReport {
    std::string name;                 ///< "big:1"
    std::vector<std::size_t> stages;  ///< counted from 0
    double work_us = 0;
    double occupancy = 0;  ///< share of the run that it worked
};

/// Time from the beginning of a frame's first stage to the end of its last.
struct SimLatency {
    double mean_us = 0;
    double least_us = 0;
    double median_us = 0;
    double p95_us = 0;
    double p99_us = 0;
    double most_us = 0;
};

/// Result of a simulated run; a frame here is one execution of the chain.
struct SimReport {
    std::uint64_t frames = 0;
    std::size_t tokens = 0;
    double elapsed_us = 0;  ///< from the first beginning to the last end
    double period_us = 0;   ///< between frames in the second half of the run, when the pipeline is full
    SimLatency latency{};
    std::vector<SimStageReport> stages{};
    std::vector<SimOwnerReport> owners{};  ///< none where stages have threads of their own
    double energy_j = 0;                   ///< zero when the model has no watts
    double mean_w = 0;
    double mj_per_frame = 0;
};

/// The report as a table for people: period, latency, stages, and energy where there is any.
std::string to_table(const SimReport& report);

}  // namespace tidemill
