#include "tidemill/runtime/graph/internal/layout.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "tidemill/runtime/graph/arena.hpp"
#include "tidemill/runtime/graph/graph_error.hpp"

namespace tidemill::internal {
namespace {

/// Bytes from some offset on, given out where there is room at the lowest offset, all in whole cache lines.
class Room {
  public:
    explicit Room(std::size_t start) : start_(start) {}

    std::size_t take(std::size_t bytes) {
        if (bytes == 0) return start_;
        for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
            const auto [offset, size] = *gap;
            if (size < bytes) continue;
            gaps_.erase(gap);
            if (size > bytes) gaps_.emplace(offset + bytes, size - bytes);
            return offset;
        }
        return std::exchange(end_, end_ + bytes);
    }

    void give_back(std::size_t offset, std::size_t bytes) {
        if (bytes == 0) return;
        auto gap = gaps_.emplace(offset, bytes).first;
        if (const auto next = std::next(gap); next != gaps_.end() && next->first == offset + bytes) {
            gap->second += next->second;
            gaps_.erase(next);
        }
        if (gap == gaps_.begin()) return;
        if (const auto before = std::prev(gap); before->first + before->second == offset) {
            before->second += gap->second;
            gaps_.erase(gap);
        }
    }

  private:
    std::size_t start_;
    std::size_t end_ = start_;
    std::map<std::size_t, std::size_t> gaps_;  // sizes by offsets; none touches another
};

class Placer {
  public:
    Placer(std::span<const Item> items, std::vector<ItemAddress>& addresses)
        : items_(items), addresses_(addresses) {}

    /// Gives every chosen item an offset from `start` on such that items alive together (or, apart, any) do
    /// not overlap; returns where they end.
    std::size_t place(std::vector<std::size_t> chosen, std::size_t start, Layout layout) {
        std::ranges::stable_sort(chosen, {}, [&](std::size_t i) { return items_[i].first; });
        Room room(start);
        std::size_t end = start;
        std::multimap<std::uint32_t, std::size_t> alive;  // items by the steps that read them last
        for (const std::size_t item : chosen) {
            while (!alive.empty() && alive.begin()->first < items_[item].first) {
                room.give_back(addresses_[alive.begin()->second].offset, bytes_of(alive.begin()->second));
                alive.erase(alive.begin());
            }
            const std::size_t offset = room.take(bytes_of(item));
            end = std::max(end, offset + bytes_of(item));
            if (end > std::numeric_limits<std::uint32_t>::max())
                throw GraphError("a frame of this graph needs more than 4 GiB; make its sockets smaller");
            addresses_[item].offset = static_cast<std::uint32_t>(offset);
            if (layout == Layout::shared) alive.emplace(items_[item].last, item);
        }
        return end;
    }

  private:
    std::size_t bytes_of(std::size_t item) const { return aligned(items_[item].bytes); }

    std::span<const Item> items_;
    std::vector<ItemAddress>& addresses_;
};

}  // namespace

std::vector<ItemAddress> lay_out(std::span<const Item> items, std::span<const std::uint32_t> stage_of,
                                 const std::vector<bool>& batches, Layout layout, Plan& plan) {
    std::vector<ItemAddress> addresses;
    for (const Item& item : items) {
        const std::uint32_t stage = stage_of[item.first];
        addresses.push_back({stage_of[item.last] != stage || batches[stage], 0});
    }
    // Items in tokens by segment, and the others by stage and segment.
    std::vector<std::vector<std::size_t>> crossing(plan.segments.size());
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> inside;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::uint32_t segment = items[i].segment;
        (addresses[i].in_token ? crossing[segment] : inside[{stage_of[items[i].first], segment}])
            .push_back(i);
    }
    Placer placer(items, addresses);
    for (std::uint32_t segment = 0; segment < plan.segments.size(); ++segment)
        plan.segments[segment].token_bytes = placer.place(std::move(crossing[segment]), 0, layout);
    for (std::uint32_t s = 0; s < plan.stages.size(); ++s) {
        std::size_t& bytes = plan.stages[s].scratch_bytes;
        for (const Part& part : plan.stages[s].parts)
            bytes = placer.place(std::move(inside[{s, part.segment}]), bytes, Layout::shared);
    }
    return addresses;
}

}  // namespace tidemill::internal
