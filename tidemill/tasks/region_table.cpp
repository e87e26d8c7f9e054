#include "tidemill/tasks/region_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace tidemill {

namespace {

void add_once(std::vector<TaskRef>& tasks, TaskRef task) {
    if (std::find(tasks.begin(), tasks.end(), task) == tasks.end()) tasks.push_back(task);
}

}  // namespace

RegionTable::RegionTable(const std::vector<std::uint64_t>& numbers) : numbers_(numbers), regions_(64) {}

void RegionTable::note(TaskRef task, const Access& access, std::vector<TaskRef>& predecessors) {
    Region& region = find(access);
    const auto depend_on = [&](TaskRef other) {
        if (current(other) && other != task) add_once(predecessors, other);
    };
    if (!access.changes()) {
        depend_on(region.writer);
        add_reader(region, task);
        return;
    }
    // Readers come after the writer before them, so they stand for it.
    for (const TaskRef reader : region.readers) depend_on(reader);
    if (region.readers.empty()) depend_on(region.writer);
    region.writer = task;
    region.readers.clear();
}

// Of a piece that is only ever read, those that have ended are forgotten from time to time.
void RegionTable::add_reader(Region& region, TaskRef task) const {
    if (region.readers.size() == region.readers.capacity()) {
        std::erase_if(region.readers, [&](const TaskRef& reader) { return !current(reader); });
        region.readers.reserve(std::max<std::size_t>(4, 2 * region.readers.size()));
    }
    region.readers.push_back(task);
}

std::size_t RegionTable::place_of(const void* address) const {
    const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15ull;
    std::size_t place = mixed >> 20 & (regions_.size() - 1);
    while (regions_[place].address && regions_[place].address != address) {
        place = (place + 1) & (regions_.size() - 1);
    }
    return place;
}

RegionTable::Region& RegionTable::find(const Access& access) {
    std::size_t place = place_of(access.address);
    if (!regions_[place].address) {
        if (2 * (used_ + 1) > regions_.size()) {
            make_room();
            place = place_of(access.address);
        }
        regions_[place].address = access.address;
        regions_[place].bytes = access.bytes;
        ++used_;
    }
    Region& region = regions_[place];
    if (region.bytes == access.bytes) return region;
    if (!forgotten(region)) {
        throw std::invalid_argument(
            fmt::format("a task accesses {} bytes at {}, tasks in flight access {} there: name the same "
                        "piece of memory each "
                        "time, or wait between",
                        access.bytes, access.address, region.bytes));
    }
    region.bytes = access.bytes;
    return region;
}

bool RegionTable::forgotten(const Region& region) const {
    return !current(region.writer) && std::none_of(region.readers.begin(), region.readers.end(),
                                                   [&](const TaskRef& reader) { return current(reader); });
}

void RegionTable::make_room() {
    std::vector<Region> old = std::exchange(regions_, {});
    std::erase_if(old, [&](const Region& region) { return !region.address || forgotten(region); });
    std::size_t size = 64;
    while (size < 4 * (old.size() + 1)) size *= 2;
    regions_.resize(size);
    used_ = old.size();
    for (Region& region : old) regions_[place_of(region.address)] = std::move(region);
}

}  // namespace tidemill
