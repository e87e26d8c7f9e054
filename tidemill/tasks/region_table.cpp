#include "tidemill/tasks/region_table.hpp"

#include <algorithm>
#include <utility>

namespace tidemill {

namespace {

void add_once(std::vector<TaskRef>& tasks, TaskRef task) {
    if (std::find(tasks.begin(), tasks.end(), task) == tasks.end()) tasks.push_back(task);
}

}  // namespace

RegionTable::RegionTable(const std::vector<std::uint64_t>& numbers) : numbers_(numbers), regions_(64) {}

void RegionTable::note(TaskRef task, const Access& access, std::vector<TaskRef>& predecessors) {
    if (access.bytes == 0) return;
    Region& region = regions_[place_of(access.address)];
    if (region.address && region.bytes == access.bytes) {
        note_region(region, task, access.changes(), predecessors);
    } else {
        note_in_parts(task, access, predecessors);
    }
}

void RegionTable::note_in_parts(TaskRef task, const Access& access, std::vector<TaskRef>& predecessors) {
    const auto* begin = static_cast<const std::byte*>(access.address);
    const std::byte* const end = begin + access.bytes;
    cut_at(begin);
    cut_at(end);
    while (begin != end) {
        const auto next = forget_unused(begin, end);
        const bool known = next != extents_.end() && next->first == begin;
        const std::byte* const gap_end = next == extents_.end() ? end : std::min(next->first, end);
        const std::size_t bytes = known ? next->second : static_cast<std::size_t>(gap_end - begin);
        note_region(known ? regions_[place_of(begin)] : add(begin, bytes), task, access.changes(),
                    predecessors);
        begin += bytes;
    }
}

void RegionTable::note_region(Region& region, TaskRef task, bool changes,
                              std::vector<TaskRef>& predecessors) {
    const auto depend_on = [&](TaskRef other) {
        if (current(other) && other != task) add_once(predecessors, other);
    };
    if (!changes) {
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

// Whoever uses a region uses both of its parts.
void RegionTable::cut_at(const std::byte* address) {
    auto extent = extents_.lower_bound(address);
    if (extent == extents_.begin()) return;
    const auto [first, bytes] = *--extent;
    if (first + bytes <= address) return;
    Region& whole = regions_[place_of(first)];
    whole.bytes = extent->second = static_cast<std::size_t>(address - first);
    Region copy = whole;
    Region& behind = add(address, bytes - copy.bytes);
    behind.writer = copy.writer;
    behind.readers = std::move(copy.readers);
}

// Forgets regions from `begin` on, until one that tasks use, or `end`; returns the one behind them.
RegionTable::Extents::iterator RegionTable::forget_unused(const std::byte* begin, const std::byte* end) {
    auto extent = extents_.lower_bound(begin);
    while (extent != extents_.end() && extent->first < end) {
        Region& region = regions_[place_of(extent->first)];
        if (!forgotten(region)) break;
        region.bytes = 0;
        extent = extents_.erase(extent);
    }
    return extent;
}

RegionTable::Region& RegionTable::add(const std::byte* address, std::size_t bytes) {
    if (2 * (used_ + 1) > regions_.size()) make_room();
    Region& region = regions_[place_of(address)];
    if (!region.address) ++used_;
    region.address = address;
    region.bytes = bytes;
    region.writer = {};
    region.readers.clear();
    extents_.emplace(address, bytes);
    return region;
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
