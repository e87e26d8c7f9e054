#include "tidemill/graph/internal/links.hpp"

#include <algorithm>

namespace tidemill::internal {

std::vector<std::uint32_t> ordered(const Links& successors,
                                   const std::function<std::pair<bool, std::uint32_t>(std::uint32_t)>& key) {
    std::vector<std::uint32_t> waiting_for(successors.size(), 0);
    for (const auto& next : successors) {
        for (const std::uint32_t node : next) ++waiting_for[node];
    }
    std::vector<std::uint32_t> ready;
    const auto later = [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); };
    const auto make_ready = [&](std::uint32_t node) {
        ready.push_back(node);
        std::push_heap(ready.begin(), ready.end(), later);
    };
    for (std::uint32_t node = 0; node < successors.size(); ++node) {
        if (waiting_for[node] == 0) make_ready(node);
    }
    std::vector<std::uint32_t> order;
    while (!ready.empty()) {
        std::pop_heap(ready.begin(), ready.end(), later);
        order.push_back(ready.back());
        ready.pop_back();
        for (const std::uint32_t node : successors[order.back()]) {
            if (--waiting_for[node] == 0) make_ready(node);
        }
    }
    return order;
}

std::vector<bool> reached_from(std::uint32_t start, const Links& successors) {
    std::vector<bool> reached(successors.size(), false);
    std::vector<std::uint32_t> pending = successors[start];
    while (!pending.empty()) {
        const std::uint32_t node = pending.back();
        pending.pop_back();
        if (reached[node]) continue;
        reached[node] = true;
        pending.insert(pending.end(), successors[node].begin(), successors[node].end());
    }
    return reached;
}

}  // namespace tidemill::internal
