#pragma once

#include <cstddef>
#include <span>

#include "tidemill/io/sample_source.hpp"

namespace tidemill::dvbs2 {

/// Samples of a band that its tuners take at a time: always as many, whatever a source gives, so that results
/// do not depend on that; whole stretches of BandSpectra, few where samples come slowly.
std::size_t band_block_samples(double sample_rate_hz);

/// Reads until the span is full or the source ends, and says how many bytes those are.
std::size_t read_all(io::SampleSource& source, std::span<std::byte> to);

}  // namespace tidemill::dvbs2
