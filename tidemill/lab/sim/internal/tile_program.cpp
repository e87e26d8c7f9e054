#include "tidemill/lab/sim/internal/tile_program.hpp"

namespace tidemill::internal {

void TileProgram::add(policy::TaskTypeId type, double work_us, std::uint64_t bytes, const Tile& written,
                      const std::vector<Tile>& read) {
    ProgramTask task{.type = type,
                     .iteration = iterations_ - 1,
                     .work_us = work_us,
                     .output_bytes = bytes,
                     .reserved_bytes = bytes};
    for (const Tile& tile : read) {
        const auto writer = writers_.find(tile);
        if (writer == writers_.end()) continue;
        task.predecessors.push_back({writer->second});
        ++tasks_[writer->second].readers;
    }
    writers_[written] = tasks_.size();
    tasks_.push_back(std::move(task));
}

}  // namespace tidemill::internal
