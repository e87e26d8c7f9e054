#include "tidemill/lab/programs/tile_run.hpp"

#include <algorithm>
#include <array>

namespace tidemill {

namespace {

// A task's own copy of what it is to do.
struct TileTask {
    static constexpr std::size_t kMostRead = 8;

    const Tiles* tiles;
    policy::TaskTypeId type;
    Pastime pastime;
    double time_us;
    std::span<std::byte> written;
    std::array<std::span<std::byte>, kMostRead> read;
    std::size_t reads = 0;

    void operator()() const {
        tiles->run(type, written, {read.data(), reads});
        pass_time(pastime, time_us, 0);
    }
};

}  // namespace

TileRun::TileRun(Tiles& tiles, Tasks* tasks, const std::vector<std::string>& types, Pastime pastime,
                 double time_factor)
    : tiles_(tiles), tasks_(tasks), pastime_(pastime), time_factor_(time_factor) {
    for (const std::string& type : types) {
        if (tasks_) types_.push_back(tasks_->type(type));
    }
}

void TileRun::add(policy::TaskTypeId type, double work_us, std::uint64_t, const Tile& written,
                  const std::vector<Tile>& read) {
    TileTask task{&tiles_, type, pastime_, time_factor_ * work_us, tiles_.at(written), {}};
    accesses_.clear();
    for (const Tile& tile : read) {
        const std::span<std::byte> memory = tiles_.at(tile);
        if (memory.empty()) continue;
        task.read.at(task.reads++) = memory;
        if (tile != written) accesses_.push_back(reads(memory));
    }
    const bool reads_it = std::ranges::find(read, written) != read.end();
    accesses_.push_back(reads_it ? updates(task.written) : writes(task.written));
    if (tasks_) {
        tasks_->spawn(types_[type], accesses_, task);
    } else {
        task();
    }
}

void TileRun::next_iteration() {
    if (tasks_) tasks_->next_iteration();
}

}  // namespace tidemill
