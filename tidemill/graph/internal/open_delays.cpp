#include "tidemill/graph/internal/open_delays.hpp"

#include <algorithm>
#include <optional>

namespace tidemill::internal {

namespace {

// With fewer frames in flight, two stages would wait for each other.
constexpr std::uint32_t kLeastFrames = 4;

// The task that keeps what this one gives back: a module with two has one of each.
std::optional<std::uint32_t> partner_of(const TaskNodes& tasks, std::uint32_t node) {
    std::optional<std::uint32_t> found;
    const std::uint32_t module = tasks[node].id.module;
    for (std::uint32_t other = tasks.first_of_module[module];
         other < tasks.size() && tasks[other].id.module == module; ++other) {
        if (other == node) continue;
        if (found) return std::nullopt;
        found = other;
    }
    return found;
}

bool runs_on_all_frames(const TaskInfo& info) {
    return !info.options.may_skip && !info.options.may_repeat && !info.options.at_end &&
           info.control == ControlKind::none;
}

}  // namespace

std::vector<OpenDelay> open_delays(const TaskNodes& tasks, const TaskLinks& links,
                                   const std::vector<std::uint64_t>& firings) {
    std::vector<OpenDelay> open;
    for (std::uint32_t node = 0; node < tasks.size(); ++node) {
        const std::uint32_t frames = tasks[node].info->recalls;
        if (frames < kLeastFrames) continue;
        const std::optional<std::uint32_t> writes = partner_of(tasks, node);
        if (!writes) continue;
        const std::vector<bool> behind = reached_from(node, links.all);
        if (!behind[*writes]) continue;
        std::vector<bool> before = reached_from(*writes, links.backward);
        before[*writes] = true;
        bool is_open = true;
        for (std::uint32_t other = 0; other < tasks.size(); ++other) {
            const bool on_circle = before[other] && (behind[other] || other == node);
            if (before[other]) is_open &= runs_on_all_frames(*tasks[other].info);
            if (on_circle) is_open &= firings[other] == 1;
        }
        if (is_open) open.push_back({node, *writes, frames});
    }
    return open;
}

}  // namespace tidemill::internal
