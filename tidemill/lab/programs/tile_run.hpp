#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tidemill/lab/programs/synthetic_work.hpp"
#include "tidemill/lab/sim/tile_tasks.hpp"
#include "tidemill/runtime/tasks/tasks.hpp"

namespace tidemill {

/// Tiles in memory, and what task types do with them.
class Tiles {
  public:
    virtual ~Tiles() = default;

    /// The memory of a tile; none where there is no such tile.
    virtual std::span<std::byte> at(const Tile& tile) = 0;

    /// Runs a task: `read` are those of its tiles that are there, in the order in which it names them.
    virtual void run(policy::TaskTypeId type, std::span<std::byte> written,
                     std::span<const std::span<std::byte>> read) const = 0;

    /// All tiles in one number.
    virtual std::uint64_t digest() const = 0;
};

/// Runs tasks on tiles as they come: one after the other, or spawned with the memory that each reads and
/// writes.
class TileRun final : public TileTasks {
  public:
    /// With no `tasks`, in order. After what they do, tasks pass `time_factor` times what the program says.
    TileRun(Tiles& tiles, Tasks* tasks, const std::vector<std::string>& types, Pastime pastime,
            double time_factor);

    void add(policy::TaskTypeId type, double work_us, std::uint64_t bytes, const Tile& written,
             const std::vector<Tile>& read) override;
    void next_iteration() override;

  private:
    Tiles& tiles_;
    Tasks* tasks_;
    std::vector<TaskType> types_;
    std::vector<Access> accesses_;  // of the task that is added
    Pastime pastime_;
    double time_factor_;
};

}  // namespace tidemill
