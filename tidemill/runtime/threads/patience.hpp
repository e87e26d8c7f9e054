#pragma once

#include <algorithm>
#include <cstdint>

#include "tidemill/machine/tick_clock.hpp"

namespace tidemill {

/// How long a thread sleeps at most before it looks for itself.
inline constexpr long kPatienceNs = 5'000'000;

/// The same for one that need not look before so many ticks have passed.
inline long patience_of(std::uint64_t ticks) {
    return static_cast<long>(std::min(to_ns(ticks) + 1, static_cast<double>(kPatienceNs)));
}

}  // namespace tidemill
