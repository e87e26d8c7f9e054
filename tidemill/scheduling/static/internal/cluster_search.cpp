#include "tidemill/scheduling/static/internal/cluster_search.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace tidemill::internal {

namespace {

/// Another thread that a thread talks to.
struct Partner {
    std::size_t thread;
    std::int64_t far_ps;
};

std::vector<std::vector<Partner>> partners_of(const ClusterProblem& problem) {
    std::vector<std::vector<Partner>> partners(problem.busy_ps.size());
    for (const Talk& talk : problem.talks) {
        if (talk.from == talk.to) continue;
        partners[talk.from].push_back({talk.to, talk.far_ps});
        partners[talk.to].push_back({talk.from, talk.far_ps});
    }
    return partners;
}

// Always the thread that talks most to those before it.
std::vector<std::size_t> order_of(const std::vector<std::vector<Partner>>& partners) {
    std::vector<std::int64_t> to_placed_ps(partners.size(), 0);
    std::vector<std::size_t> left(partners.size());
    std::iota(left.begin(), left.end(), std::size_t{0});
    std::vector<std::size_t> order;
    while (!left.empty()) {
        const auto next = std::ranges::max_element(left, {}, [&](std::size_t t) { return to_placed_ps[t]; });
        order.push_back(*next);
        for (const Partner& partner : partners[*next]) to_placed_ps[partner.thread] += partner.far_ps;
        left.erase(next);
    }
    return order;
}

/// Puts one thread after the other into each cluster that has room, and turns back where what there is so far
/// is no better than the best: nothing becomes less with more threads.
class ClusterSearch {
  public:
    ClusterSearch(const ClusterProblem& problem, std::size_t most_steps)
        : problem_(problem),
          partners_(partners_of(problem)),
          order_(order_of(partners_)),
          steps_left_(most_steps),
          busy_ps_(problem.busy_ps),
          taken_(problem.rooms.size(), 0) {
        now_.clusters.assign(busy_ps_.size(), kNone);
        now_.period_ps = problem.least_period_ps;
        for (const std::int64_t busy_ps : busy_ps_) now_.period_ps = std::max(now_.period_ps, busy_ps);
    }

    ClusterChoice best() {
        go_on(0);
        return *best_;
    }

  private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    struct Option {
        std::size_t cluster;
        std::int64_t far_ps;
    };

    void go_on(std::size_t placed) {
        if (best_ && now_.rank() >= best_->rank()) return;
        if (placed == order_.size()) {
            best_ = now_;
            return;
        }
        const std::vector<Option> options = options_of(order_[placed]);
        spend(options.size() * (1 + partners_[order_[placed]].size()));
        for (const Option& option : options) {
            if (best_ && steps_left_ == 0) return;
            try_in(order_[placed], option, placed);
        }
    }

    void spend(std::size_t steps) { steps_left_ -= std::min(steps, steps_left_); }

    // Those that cost least first. Of empty clusters that are alike, one is enough.
    std::vector<Option> options_of(std::size_t thread) const {
        std::vector<Option> options;
        std::vector<std::size_t> empty_rooms;
        for (std::size_t cluster = 0; cluster < taken_.size(); ++cluster) {
            const std::size_t room = problem_.rooms[cluster];
            if (taken_[cluster] == room) continue;
            if (taken_[cluster] == 0) {
                if (std::ranges::find(empty_rooms, room) != empty_rooms.end()) continue;
                empty_rooms.push_back(room);
            }
            options.push_back({cluster, far_ps_in(thread, cluster)});
        }
        std::ranges::stable_sort(options, {}, [&](const Option& option) {
            return std::tuple(option.far_ps, taken_[option.cluster] == 0);
        });
        return options;
    }

    std::int64_t far_ps_in(std::size_t thread, std::size_t cluster) const {
        std::int64_t sum_ps = 0;
        for (const Partner& partner : partners_[thread])
            if (is_far(partner, cluster)) sum_ps += partner.far_ps;
        return sum_ps;
    }

    bool is_far(const Partner& partner, std::size_t cluster) const {
        const std::size_t there = now_.clusters[partner.thread];
        return there != kNone && there != cluster;
    }

    void try_in(std::size_t thread, const Option& option, std::size_t placed) {
        const std::int64_t period_ps = now_.period_ps;
        busy_ps_[thread] += option.far_ps;
        now_.period_ps = std::max(now_.period_ps, busy_ps_[thread]);
        for (const Partner& partner : partners_[thread]) {
            if (!is_far(partner, option.cluster)) continue;
            busy_ps_[partner.thread] += partner.far_ps;
            now_.period_ps = std::max(now_.period_ps, busy_ps_[partner.thread]);
        }
        now_.far_ps += option.far_ps;
        if (taken_[option.cluster]++ == 0) ++now_.used;
        now_.clusters[thread] = option.cluster;
        go_on(placed + 1);
        now_.clusters[thread] = kNone;
        if (--taken_[option.cluster] == 0) --now_.used;
        now_.far_ps -= option.far_ps;
        for (const Partner& partner : partners_[thread])
            if (is_far(partner, option.cluster)) busy_ps_[partner.thread] -= partner.far_ps;
        busy_ps_[thread] -= option.far_ps;
        now_.period_ps = period_ps;
    }

    const ClusterProblem& problem_;
    const std::vector<std::vector<Partner>> partners_;
    const std::vector<std::size_t> order_;
    std::size_t steps_left_;
    std::vector<std::int64_t> busy_ps_;  // of those that have a place, with their far cuts
    std::vector<std::size_t> taken_;     // [cluster]
    ClusterChoice now_{};
    std::optional<ClusterChoice> best_{};
};

}  // namespace

ClusterChoice best_clusters(const ClusterProblem& problem, std::size_t most_steps) {
    return ClusterSearch(problem, most_steps).best();
}

}  // namespace tidemill::internal
