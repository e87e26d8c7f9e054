#include "tidemill/runtime/graph/arena.hpp"

namespace tidemill::internal {

std::atomic<ArenaHeir> arena_heir{nullptr};

}  // namespace tidemill::internal
