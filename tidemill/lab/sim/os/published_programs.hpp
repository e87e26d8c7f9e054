#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tidemill/lab/sim/os/program.hpp"

namespace tidemill::os {

/// How many times longer programs take on a little core, from those that wait for memory most to those that
/// only compute, and how far apart programs with the same counters are in that.
struct Ratios {
    double least = 1.3;
    double most = 4.24;
    double pipelines = 1.5;  ///< Phase::pipeline is between its inverse and this; 1: the clock alone differs
};

/// The programs of "mibench", "spec10" or "spec12" in `published/sbridge_programs.csv`. What the paper does
/// not say of a program is drawn by the seed: its ratio evenly, and what of it is the pipeline's (of those
/// that compute or wait for memory, from the upper or the lower third), its work from 0.3 to 6 s on a big
/// core (0.1 to 0.5 if it is short, 5 to 20 if it is long), evenly by its logarithm. Alternating ones change
/// between both thirds every 0.25 s. Throws SimError for another workload.
std::vector<Program> published_programs(std::string_view workload, const Ratios& ratios, std::uint64_t seed);

/// So many programs that are drawn like those of which the paper says nothing.
std::vector<Program> drawn_programs(std::size_t count, const Ratios& ratios, std::uint64_t seed);
/// The same, all of the lower third.
std::vector<Program> memory_bound_programs(std::size_t count, const Ratios& ratios, std::uint64_t seed);

}  // namespace tidemill::os
