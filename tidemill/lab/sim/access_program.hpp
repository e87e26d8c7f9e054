#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/lab/sim/task_program.hpp"
#include "tidemill/lab/sim/tile_tasks.hpp"
#include "tidemill/scheduling/dynamic/access_history.hpp"

namespace tidemill {

/// Access of a task to a tile, with the meaning that task programs give it
/// (tidemill/runtime/tasks/access.hpp); `renamed` is a write in memory of its own.
struct TileAccess {
    enum class Mode : std::uint8_t { in, out, inout, renamed, commutative, concurrent, reduction };

    Tile tile;
    Mode mode;
};

/// A program whose tasks say what they do with tiles, all known before it runs. What it costs to combine the
/// parts of a reduction is not in it.
class AccessProgram final : public TaskProgram {
  public:
    AccessProgram(std::string name, std::vector<std::string> types)
        : name_(std::move(name)), types_(std::move(types)) {}

    /// `bytes` are those of a tile that is renamed, or of which the task has a copy for a reduction.
    void add(policy::TaskTypeId type, double work_us, std::uint64_t bytes,
             const std::vector<TileAccess>& accesses);
    void next_iteration() { ++iterations_; }

    const std::string& name() const override { return name_; }
    const std::vector<std::string>& types() const override { return types_; }
    std::uint64_t tasks() const override { return tasks_.size(); }
    std::uint64_t iterations() const override { return iterations_; }
    std::uint64_t reach(std::uint64_t) const override { return tasks_.size(); }
    void next(ProgramTask& task) override { task = tasks_[next_++]; }
    void restart() override { next_ = 0; }

  private:
    using Number = std::optional<std::uint64_t>;
    struct Past {
        policy::AccessHistory<Number> history{};
        Number renamed_by{};  // whose memory it is
    };

    void note(ProgramTask& task, const TileAccess& access);

    std::string name_;
    std::vector<std::string> types_;
    std::vector<ProgramTask> tasks_;
    std::map<Tile, Past> tiles_;
    std::uint32_t groups_ = 0;
    std::uint64_t iterations_ = 1;
    std::size_t next_ = 0;
};

/// How the tasks of pairs() add to what they share.
enum class PairsBy : std::uint8_t { update, commutation, reduction };

/// Particles that pull at each other: for each pair a task that adds to both of their forces, which takes 0.5
/// to 1.5 ms, then for each particle one of 1 ms that moves it.
std::unique_ptr<TaskProgram> pairs(PairsBy by, std::uint64_t particles, std::uint64_t steps);

/// A source that fills a buffer in 1 ms, over and over, and three tasks of 2 ms that look at what it has
/// filled in.
std::unique_ptr<TaskProgram> buffer(bool renamed, std::uint64_t fills);

}  // namespace tidemill
