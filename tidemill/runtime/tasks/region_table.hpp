#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tidemill/runtime/tasks/access.hpp"
#include "tidemill/scheduling/dynamic/access_history.hpp"
#include "tidemill/scheduling/dynamic/exclusive_tasks.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {

/// A task, distinct from those that had its slot before.
struct TaskRef {
    policy::TaskSlot slot = policy::kNoTask;
    std::uint64_t number = 0;

    bool operator==(const TaskRef&) const = default;
};

/// Conditions of a new task: others have to end, and some things only one task at a time may have.
struct Waits {
    std::vector<TaskRef> predecessors{};
    std::vector<policy::ExclusionId> exclusions{};

    void clear() {
        predecessors.clear();
        exclusions.clear();
    }
};

/// Tasks that last wrote and have since read each piece of memory, and so what a new task must wait for.
/// Pieces that are named again as they were are found at once. Where others overlap them in part, they are
/// cut, so that what depends on others is decided by the bytes alone. Forgets pieces of which no task is
/// left: its size follows what is in flight, not what has been.
class RegionTable {
  public:
    /// `numbers` holds, per slot, the number of the task that has it now; it must outlive this.
    explicit RegionTable(const std::vector<std::uint64_t>& numbers);

    /// Notes what `task` does, and adds what it must wait for to `waits`, each once; some may have ended.
    void note(TaskRef task, const Access& access, Waits& waits);

    /// Forgets all: no task is left.
    void clear();

    std::size_t regions() const { return used_; }

  private:
    // A line of the cache each: where one lay across two, a task took a third longer.
    struct alignas(64) Region {
        const void* address = nullptr;
        std::size_t bytes = 0;  // 0: forgotten, but still in its place
        policy::AccessHistory<TaskRef> history{};
    };
    static_assert(sizeof(Region) == 64);
    // Questions of a history, and its listener.
    struct Around {
        const RegionTable& table;
        Waits& waits;

        bool in_flight(const TaskRef& task) const { return table.current(task); }
        void wait_for(const TaskRef& task) const;
    };
    // Address and bytes of all regions that are not forgotten; they have nothing in common.
    using Extents = std::map<const std::byte*, std::size_t>;

    void note_in_parts(TaskRef task, const Access& access, Waits& waits);
    void note_region(Region& region, TaskRef task, const Access& access, Waits& waits);
    void cut_at(const std::byte* address);
    Extents::iterator forget_unused(const std::byte* begin, const std::byte* end);
    Region& add(const std::byte* address, std::size_t bytes);
    void make_room();
    std::size_t place_of(const void* address) const;
    bool current(const TaskRef& task) const {
        return task.slot != policy::kNoTask && numbers_[task.slot] == task.number;
    }
    bool forgotten(const Region& region) const;

    const std::vector<std::uint64_t>& numbers_;
    std::vector<Region> regions_;  // open addressing
    std::size_t used_ = 0;
    std::uint32_t next_group_ = 0;
    Extents extents_;
};

}  // namespace tidemill
