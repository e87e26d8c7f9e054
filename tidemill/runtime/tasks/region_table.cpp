#include "tidemill/runtime/tasks/region_table.hpp"

#include <algorithm>
#include <utility>

namespace tidemill {

namespace {

template <class T>
void add_once(std::vector<T>& all, T each) {
    if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
}

policy::SharedUse use_of(const Access& access) {
    return {static_cast<std::uint8_t>(access.mode), access.operation};
}

}  // namespace

RegionTable::RegionTable(const std::vector<std::uint64_t>& numbers) : numbers_(numbers), regions_(64) {}

void RegionTable::Around::wait_for(const TaskRef& task) const {
    add_once(waits.predecessors, task);
}

void RegionTable::note(TaskRef task, const Access& access, Waits& waits) {
    if (access.bytes == 0) return;
    Region& region = regions_[place_of(access.address)];
    if (region.address && region.bytes == access.bytes) {
        note_region(region, task, access, waits);
    } else {
        note_in_parts(task, access, waits);
    }
}

void RegionTable::note_in_parts(TaskRef task, const Access& access, Waits& waits) {
    const auto* begin = static_cast<const std::byte*>(access.address);
    const std::byte* const end = begin + access.bytes;
    cut_at(begin);
    cut_at(end);
    while (begin != end) {
        const auto next = forget_unused(begin, end);
        const bool known = next != extents_.end() && next->first == begin;
        const std::byte* const gap_end = next == extents_.end() ? end : std::min(next->first, end);
        const std::size_t bytes = known ? next->second : static_cast<std::size_t>(gap_end - begin);
        note_region(known ? regions_[place_of(begin)] : add(begin, bytes), task, access, waits);
        begin += bytes;
    }
}

void RegionTable::note_region(Region& region, TaskRef task, const Access& access, Waits& waits) {
    constexpr std::uint32_t kNumbers = 4096;  // then they come again
    const Around around{*this, waits};
    if (!access.changes()) return region.history.read(task, around);
    if (!access.shares()) return region.history.change(task, around);
    const std::uint32_t group = region.history.share(task, use_of(access), next_group_, around);
    next_group_ %= kNumbers;
    if (access.mode == Access::Mode::commutative) add_once(waits.exclusions, group);
}

void RegionTable::clear() {
    std::fill(regions_.begin(), regions_.end(), Region{});
    extents_.clear();
    used_ = 0;
}

std::size_t RegionTable::place_of(const void* address) const {
    const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15ull;
    std::size_t place = mixed >> 20 & (regions_.size() - 1);
    while (regions_[place].address && regions_[place].address != address) {
        place = (place + 1) & (regions_.size() - 1);
    }
    return place;
}

// A user of a region uses both of its parts.
void RegionTable::cut_at(const std::byte* address) {
    auto extent = extents_.lower_bound(address);
    if (extent == extents_.begin()) return;
    const auto [first, bytes] = *--extent;
    if (first + bytes <= address) return;
    Region& whole = regions_[place_of(first)];
    whole.bytes = extent->second = static_cast<std::size_t>(address - first);
    policy::AccessHistory<TaskRef> copy = whole.history;
    add(address, bytes - whole.bytes).history = std::move(copy);
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
    region.history = {};
    extents_.emplace(address, bytes);
    return region;
}

bool RegionTable::forgotten(const Region& region) const {
    Waits none;
    return region.history.over(Around{*this, none});
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
