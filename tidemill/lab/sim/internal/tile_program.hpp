#pragma once

#include <map>

#include "tidemill/lab/sim/task_program.hpp"
#include "tidemill/lab/sim/tile_tasks.hpp"

namespace tidemill::internal {

/// A program written as tasks on tiles, all known before it runs.
class TileProgram final : public TaskProgram, public TileTasks {
  public:
    TileProgram(std::string name, std::vector<std::string> types)
        : name_(std::move(name)), types_(std::move(types)) {}

    void add(policy::TaskTypeId type, double work_us, std::uint64_t bytes, const Tile& written,
             const std::vector<Tile>& read) override;
    void next_iteration() override { ++iterations_; }

    const std::string& name() const override { return name_; }
    const std::vector<std::string>& types() const override { return types_; }
    std::uint64_t tasks() const override { return tasks_.size(); }
    std::uint64_t iterations() const override { return iterations_; }
    std::uint64_t reach(std::uint64_t) const override { return tasks_.size(); }
    void next(ProgramTask& task) override { task = tasks_[next_++]; }
    void restart() override { next_ = 0; }

  private:
    std::string name_;
    std::vector<std::string> types_;
    std::vector<ProgramTask> tasks_;
    std::map<Tile, std::uint64_t> writers_;  // the last ones
    std::uint64_t iterations_ = 1;
    std::size_t next_ = 0;
};

}  // namespace tidemill::internal
