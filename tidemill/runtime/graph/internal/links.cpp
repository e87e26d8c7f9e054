#include "tidemill/runtime/graph/internal/links.hpp"

#include <algorithm>
#include <limits>

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

namespace {

// The strongly connected components of a graph, by Tarjan's algorithm with a stack of its own.
class Components {
  public:
    explicit Components(const Links& successors)
        : successors_(successors),
          number_(successors.size(), 0),
          lowest_(successors.size(), 0),
          least_(successors.size(), kNone) {}

    std::vector<std::uint32_t> least() {
        for (std::uint32_t node = 0; node < successors_.size(); ++node)
            if (number_[node] == 0) visit(node);
        return std::move(least_);
    }

  private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    void enter(std::uint32_t node) {
        number_[node] = lowest_[node] = ++numbers_;
        open_.push_back(node);
        path_.push_back({node, 0});
    }

    void visit(std::uint32_t start) {
        enter(start);
        while (!path_.empty()) {
            auto& [node, next] = path_.back();
            if (next < successors_[node].size()) {
                const std::uint32_t to = successors_[node][next++];
                if (number_[to] == 0) {
                    enter(to);
                } else if (least_[to] == kNone) {
                    lowest_[node] = std::min(lowest_[node], number_[to]);
                }
                continue;
            }
            const std::uint32_t done = node;
            path_.pop_back();
            if (!path_.empty())
                lowest_[path_.back().first] = std::min(lowest_[path_.back().first], lowest_[done]);
            if (lowest_[done] == number_[done]) close(done);
        }
    }

    // All that were entered since its first node, and are in no component yet.
    void close(std::uint32_t first) {
        const auto begin = std::ranges::find(open_.rbegin(), open_.rend(), first).base() - 1;
        const std::uint32_t least = *std::min_element(begin, open_.end());
        for (auto node = begin; node != open_.end(); ++node) least_[*node] = least;
        open_.erase(begin, open_.end());
    }

    const Links& successors_;
    std::vector<std::uint32_t> number_;  // in the order in which they are entered; 0: not yet
    std::vector<std::uint32_t> lowest_;
    std::vector<std::uint32_t> least_;  // of its component, where that is known
    std::vector<std::uint32_t> open_;
    std::vector<std::pair<std::uint32_t, std::size_t>> path_;
    std::uint32_t numbers_ = 0;
};

}  // namespace

std::vector<std::uint32_t> least_in_circle(const Links& successors) {
    return Components(successors).least();
}

PathSearch::PathSearch(const Links& forward) : place_(forward.size(), 0), seen_in_(forward.size(), 0) {
    std::uint32_t next = 0;
    for (const std::uint32_t node : ordered(forward, [](std::uint32_t n) { return std::pair{false, n}; }))
        place_[node] = next++;
}

bool PathSearch::finds(std::uint32_t start, std::uint32_t target, const Links& links, std::uint32_t first,
                       std::uint32_t last) {
    ++search_;
    std::vector<std::uint32_t> pending{start};
    while (!pending.empty()) {
        const std::uint32_t node = pending.back();
        pending.pop_back();
        for (const std::uint32_t to : links[node]) {
            if (to == target) return true;
            if (place_[to] < first || place_[to] > last || seen_in_[to] == search_) continue;
            seen_in_[to] = search_;
            pending.push_back(to);
        }
    }
    return false;
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
