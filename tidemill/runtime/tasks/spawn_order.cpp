#include "tidemill/runtime/tasks/spawn_order.hpp"

#include <limits>

namespace tidemill {

using policy::TaskSlot;

SpawnOrder::SpawnOrder(std::size_t slots)
    : numbers_(slots, std::numeric_limits<std::uint64_t>::max()), regions_(numbers_) {
    for (std::size_t slot = slots; slot-- > 0;) free_.push_back(static_cast<TaskSlot>(slot));
}

const Spawn& SpawnOrder::spawn(policy::TaskTypeId type, std::span<const Access> accesses,
                               std::int32_t priority) {
    next_.task = {free_.back(), spawned_++};
    next_.type = type;
    next_.priority = priority;
    numbers_[next_.task.slot] = next_.task.number;
    waits_.clear();
    for (const Access& access : accesses) regions_.note(next_.task, access, waits_);
    next_.predecessors = static_cast<std::uint32_t>(waits_.predecessors.size());
    next_.exclusions = static_cast<std::uint32_t>(waits_.exclusions.size());
    free_.pop_back();
    return next_;
}

}  // namespace tidemill
