#pragma once

#include <complex>
#include <span>
#include <vector>

#include "tidemill/dvbs2/phase_smoother.hpp"
#include "tidemill/dvbs2/pl_header.hpp"

namespace tidemill::dvbs2::detail {

/// The M-th power of symbols, added up over some neighbours: it has lost most of the data, and turns M times
/// as fast as the carrier.
struct PowerBlock {
    double place = 0;  // middle, in symbols from the frame's start
    std::complex<double> sum{};
};

/// Power sums of `data`, which starts `place` symbols into the frame, at one frequency; order is 4, 8, 12
/// or 16. They point along the real axis where the carrier's phase is 0.
void add_powers(std::span<const Iq> data, int order, int place, double frequency, int block_symbols,
                std::vector<PowerBlock>& blocks);

/// What power blocks tell together.
struct PowerStatistics {
    double signal = 0;  // mean length of a block's sum that points with the carrier
    double noise = 0;   // mean square of the rest
    double offset = 0;  // cycles per symbol to be removed from the blocks; 0 when none stands out
    bool found = false;
};

/// Finds the offset, expected within some sigma, at which the blocks agree best, and the header phases with
/// them.
PowerStatistics examine(std::span<const PowerBlock> blocks, int order, double sigma,
                        std::span<const PhaseSample> headers);

/// The most likely path of the phase through the blocks, from one phase towards the other: the first and the
/// last sample are what the headers say, and `samples` receives all between as well.
void follow_path(std::span<const PowerBlock> blocks, const PowerStatistics& statistics, int order,
                 std::span<const PhaseSample> headers, double step_sigma, std::vector<PhaseSample>& samples);

}  // namespace tidemill::dvbs2::detail
