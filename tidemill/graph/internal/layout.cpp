#include "tidemill/graph/internal/layout.hpp"

#include <algorithm>
#include <limits>

#include "tidemill/graph/arena.hpp"
#include "tidemill/graph/graph_error.hpp"

namespace tidemill::internal {
namespace {

class Placer {
  public:
    Placer(std::span<const Item> items, std::vector<ItemAddress>& addresses)
        : items_(items), addresses_(addresses) {}

    /// Gives every chosen item an offset from `start` on such that items alive together (or, apart, any) do
    /// not overlap; returns where they end.
    std::size_t place(std::vector<std::size_t> chosen, std::size_t start, Layout layout) {
        std::ranges::stable_sort(chosen, {}, [&](std::size_t i) { return items_[i].first; });
        std::size_t end = start;
        std::vector<std::size_t> placed;
        for (const std::size_t item : chosen) {
            std::vector<std::size_t> alive;
            std::ranges::copy_if(placed, std::back_inserter(alive), [&](std::size_t other) {
                return layout == Layout::apart || items_[other].last >= items_[item].first;
            });
            const std::size_t offset = first_gap(std::move(alive), items_[item].bytes, start);
            end = std::max(end, offset + aligned(items_[item].bytes));
            if (end > std::numeric_limits<std::uint32_t>::max())
                throw GraphError("a frame of this graph needs more than 4 GiB; make its sockets smaller");
            addresses_[item].offset = static_cast<std::uint32_t>(offset);
            placed.push_back(item);
        }
        return end;
    }

  private:
    // The lowest offset at which so many bytes lie beside those that are alive.
    std::size_t first_gap(std::vector<std::size_t> alive, std::size_t bytes, std::size_t start) const {
        std::ranges::sort(alive, {}, [&](std::size_t i) { return addresses_[i].offset; });
        std::size_t offset = start;
        for (const std::size_t other : alive) {
            if (offset + bytes <= addresses_[other].offset) break;
            offset = std::max(offset, addresses_[other].offset + aligned(items_[other].bytes));
        }
        return offset;
    }

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
    const auto chosen = [&](auto&& wanted) {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < items.size(); ++i)
            if (wanted(items[i], addresses[i])) found.push_back(i);
        return found;
    };
    Placer placer(items, addresses);
    for (std::uint32_t segment = 0; segment < plan.segments.size(); ++segment) {
        const auto crossing = chosen([&](const Item& item, ItemAddress address) {
            return address.in_token && item.segment == segment;
        });
        plan.segments[segment].token_bytes = placer.place(crossing, 0, layout);
    }
    for (std::uint32_t s = 0; s < plan.stages.size(); ++s) {
        std::size_t& bytes = plan.stages[s].scratch_bytes;
        for (const Part& part : plan.stages[s].parts) {
            const auto inside = chosen([&](const Item& item, ItemAddress address) {
                return !address.in_token && stage_of[item.first] == s && item.segment == part.segment;
            });
            bytes = placer.place(inside, bytes, Layout::shared);
        }
    }
    return addresses;
}

}  // namespace tidemill::internal
