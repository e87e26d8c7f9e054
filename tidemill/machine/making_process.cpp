#include "tidemill/machine/making_process.hpp"

#include <pthread.h>

namespace tidemill::internal {

// Counted where the process begins, since a look must cost next to nothing.
std::atomic<std::uint32_t> forks = 0;

namespace {

[[maybe_unused]] const int kCountsForks =
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

}  // namespace tidemill::internal
