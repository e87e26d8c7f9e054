#pragma once

#include <cstdint>

namespace tidemill {

/// How a thread waits for its turn at a token.
enum class WaitMode : std::uint8_t {
    passive,  ///< looks for a microsecond or two, then sleeps in the kernel
    active,   ///< spins, and yields the core when others may need it
    mixed,    ///< spins for some tens of microseconds, then sleeps
};

}  // namespace tidemill
