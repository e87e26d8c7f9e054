#include "tidemill/machine/start_thread.hpp"

#include <fmt/format.h>

namespace tidemill {

NoMoreThreads no_more_threads(const std::system_error& refusal) {
    return NoMoreThreads(fmt::format(
        "the system refuses one more thread ({}): use fewer, or raise the limit on processes (ulimit -u; a "
        "container's pids limit)",
        refusal.code().message()));
}

}  // namespace tidemill
