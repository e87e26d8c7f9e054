#pragma once

#include <cstddef>

namespace tidemill::python {

/// Keeps account of the places in arenas that arrays show. An arena whose time is over while an array still
/// shows a place in it, in a traceback, say, lives until the last such array is gone.
///
/// From the first loan on; from any thread.
void lend(std::byte* place);

/// An array that showed the place is gone.
void give_back(std::byte* place) noexcept;

}  // namespace tidemill::python
