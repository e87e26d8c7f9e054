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
    if (access.bytes == 0) return;
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

void RegionTable::clear() {
    std::fill(regions_.begin(), regions_.end(), Region{});
    extents_.clear();
    used_ = 0;
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
    Region& region = regions_[place_of(access.address)];
    return region.address && region.bytes == access.bytes ? region : add(access);
}

RegionTable::Region& RegionTable::add(const Access& access) {
    forget_overlapping(access);
    if (2 * (used_ + 1) > regions_.size()) make_room();
    Region& region = regions_[place_of(access.address)];
    if (!region.address) ++used_;
    region.address = access.address;
    region.bytes = access.bytes;
    extents_.emplace(static_cast<const std::byte*>(access.address), access.bytes);
    return region;
}

void RegionTable::forget_overlapping(const Access& access) {
    const auto* begin = static_cast<const std::byte*>(access.address);
    auto extent = extents_.lower_bound(begin + access.bytes);
    while (extent != extents_.begin()) {
        --extent;
        const auto [address, bytes] = *extent;
        if (address + bytes <= begin) return;
        Region& region = regions_[place_of(address)];
        if (!forgotten(region)) {
            throw std::invalid_argument(fmt::format(
                "a task accesses {} bytes at {}, tasks in flight access {} at {}: name the same piece of "
                "memory each time, or wait between",
                access.bytes, access.address, bytes, region.address));
        }
        region.bytes = 0;
        extent = extents_.erase(extent);
    }
}

bool RegionTable::forgotten(const Region& region) const {
    return !current(region.writer) && std::none_of(region.readers.begin(), region.readers.end(),
                                                   [&](const TaskRef& reader) { return current(reader); });
}

void RegionTable::make_room() {
    std::vector<Region> old = std::exchange(regions_, {});
    std::erase_if(old, [&](const Region& region) {
        if (region.address && !forgotten(region)) return false;
        if (region.bytes > 0) extents_.erase(static_cast<const std::byte*>(region.address));
        return true;
    });
    std::size_t size = 64;
    while (size < 4 * (old.size() + 1)) size *= 2;
    regions_.resize(size);
    used_ = old.size();
    for (Region& region : old) regions_[place_of(region.address)] = std::move(region);
}

}  // namespace tidemill
