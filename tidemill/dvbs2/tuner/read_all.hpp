#pragma once

#include <cstddef>
#include <span>

#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2 {

/// Reads until the span is full or the source ends, and says how many bytes those are: what is worked on at a
/// time must not depend on what a source gives at a time.
std::size_t read_all(io::SampleSource& source, std::span<std::byte> to);

}  // namespace tidemill::dvbs2
