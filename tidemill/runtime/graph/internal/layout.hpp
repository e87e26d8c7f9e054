#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/runtime/graph/internal/values.hpp"
#include "tidemill/runtime/graph/plan.hpp"

namespace tidemill::internal {

/// Where an item's bytes are: in the token of its segment when they cross a border of stages, or their stage
/// takes several frames at once; else in the scratch of their stage.
struct ItemAddress {
    bool in_token;
    std::uint32_t offset;
};

/// Places the items of a graph whose step i belongs to stage stage_of[i], of which some take batches[stage],
/// and sets the bytes of the plan's tokens and scratches; throws GraphError when a frame needs more than 4
/// GiB.
std::vector<ItemAddress> lay_out(std::span<const Item> items, std::span<const std::uint32_t> stage_of,
                                 const std::vector<bool>& batches, Layout layout, Plan& plan);

}  // namespace tidemill::internal
