#include "tidemill/runtime/graph/internal/open_delays.hpp"

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

// Per node, whether it, or one that it follows from, may not run, or runs on other frames.
std::vector<bool> behind_some_frames(const TaskNodes& tasks, const Links& links) {
    std::vector<bool> behind(tasks.size(), false);
    std::vector<std::uint32_t> pending;
    const auto add = [&](std::uint32_t node) {
        if (behind[node]) return;
        behind[node] = true;
        pending.push_back(node);
    };
    for (std::uint32_t node = 0; node < tasks.size(); ++node)
        if (!runs_on_all_frames(*tasks[node].info)) add(node);
    while (!pending.empty()) {
        const std::uint32_t node = pending.back();
        pending.pop_back();
        for (const std::uint32_t to : links[node]) add(to);
    }
    return behind;
}

class CircleSearch {
  public:
    CircleSearch(const TaskLinks& links, const std::vector<std::uint64_t>& firings)
        : links_(links),
          firings_(firings),
          paths_(links.forward),
          has_loops_(links.forward != links.all),
          has_rates_(std::ranges::any_of(firings, [](std::uint64_t times) { return times != 1; })) {}

    bool is_there(std::uint32_t reads, std::uint32_t writes) {
        const bool found = paths_.finds(reads, writes, links_.all, paths_.place(reads), paths_.place(writes));
        return found || (has_loops_ && reached_from(reads, links_.all)[writes]);
    }

    /// Whether all tasks of one that is there run once per frame.
    bool runs_once(std::uint32_t reads, std::uint32_t writes) const {
        if (!has_rates_) return true;
        const std::vector<bool> behind = reached_from(reads, links_.all);
        const std::vector<bool> before = reached_from(writes, links_.backward);
        for (std::uint32_t node = 0; node < firings_.size(); ++node) {
            const bool on_circle = (before[node] || node == writes) && (behind[node] || node == reads);
            if (on_circle && firings_[node] != 1) return false;
        }
        return true;
    }

  private:
    const TaskLinks& links_;
    const std::vector<std::uint64_t>& firings_;
    PathSearch paths_;
    bool has_loops_;
    bool has_rates_;
};

}  // namespace

std::vector<OpenDelay> open_delays(const TaskNodes& tasks, const TaskLinks& links,
                                   const std::vector<std::uint64_t>& firings) {
    std::vector<OpenDelay> open;
    const auto recalls = [](const TaskNode& task) { return task.info->recalls >= kLeastFrames; };
    if (std::ranges::none_of(tasks.all, recalls)) return open;
    const std::vector<bool> misses_frames = behind_some_frames(tasks, links.all);
    CircleSearch circles(links, firings);
    for (std::uint32_t node = 0; node < tasks.size(); ++node) {
        if (!recalls(tasks[node])) continue;
        const std::optional<std::uint32_t> writes = partner_of(tasks, node);
        if (!writes || misses_frames[*writes] || !circles.is_there(node, *writes)) continue;
        if (circles.runs_once(node, *writes)) open.push_back({node, *writes, tasks[node].info->recalls});
    }
    return open;
}

}  // namespace tidemill::internal
