#pragma once

#include <map>

#include "tidemill/sim/task_program.hpp"

namespace tidemill::detail {

/// A program written as tasks on tiles, all known before it runs.
class TileProgram final : public TaskProgram {
  public:
    /// A matrix or plane, then row and column; or whatever else tells tiles apart.
    struct Tile {
        std::uint64_t plane = 0;
        std::uint64_t row = 0;
        std::uint64_t column = 0;

        auto operator<=>(const Tile&) const = default;
    };

    TileProgram(std::string name, std::vector<std::string> kernels)
        : name_(std::move(name)), kernels_(std::move(kernels)) {}

    /// A task that makes a new version of `written`; what nobody has written yet is there from the beginning.
    void add(policy::KernelId kernel, double work_us, std::uint64_t bytes, const Tile& written,
             const std::vector<Tile>& read);

    /// All tasks from here on belong to the next iteration.
    void next_iteration() { ++iterations_; }

    const std::string& name() const override { return name_; }
    const std::vector<std::string>& kernels() const override { return kernels_; }
    std::uint64_t tasks() const override { return tasks_.size(); }
    std::uint64_t iterations() const override { return iterations_; }
    std::uint64_t reach(std::uint64_t) const override { return tasks_.size(); }
    void next(ProgramTask& task) override { task = tasks_[next_++]; }
    void restart() override { next_ = 0; }

  private:
    std::string name_;
    std::vector<std::string> kernels_;
    std::vector<ProgramTask> tasks_;
    std::map<Tile, std::uint64_t> writers_;  // the last ones
    std::uint64_t iterations_ = 1;
    std::size_t next_ = 0;
};

}  // namespace tidemill::detail
