#include "tidemill/scheduling/static/cluster_placement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "tidemill/scheduling/static/internal/cluster_search.hpp"

namespace tidemill {

namespace {

using internal::best_clusters;
using internal::ClusterChoice;
using internal::ClusterProblem;

constexpr std::int64_t kSamePeriodPs = 500;  // more than rounding comes to

/// Two seats that hand frames over, and what that costs each of both, per execution, where it is far.
struct SeatTalk {
    Seat from;
    Seat to;
    double far_us;
};

/// The threads of a kind that have cores of their own, in the order in which they take them.
class KindThreads {
  public:
    KindThreads(const Schedule& schedule, const std::string& kind) {
        const auto owners = schedule.owners();
        std::set<int> known;
        for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
            const Stage& stage = schedule.stages[s];
            for (std::size_t thread = 0; thread < static_cast<std::size_t>(stage.threads); ++thread) {
                if (stage.kind_of(thread) != kind) continue;
                are_in_turn_ = are_in_turn_ && stage.pinning == Pinning::kPacked && !stage.shares_core;
                if (stage.owners.empty())
                    add({{s, thread}});
                else if (known.insert(stage.owners[thread]).second)
                    add(owners.at({kind, stage.owners[thread]}));
            }
        }
    }

    /// Whether each has a whole core, the next one that nobody has.
    bool are_in_turn() const { return are_in_turn_; }
    std::size_t size() const { return seats_.size(); }
    /// Where a thread sits; one that owns several stages, in each of them.
    const std::vector<Seat>& seats(std::size_t thread) const { return seats_[thread]; }
    std::size_t at(const Seat& seat) const { return numbers_.at({seat.stage, seat.thread}); }

  private:
    void add(std::vector<Seat> seats) {
        for (const Seat& seat : seats) numbers_[{seat.stage, seat.thread}] = seats_.size();
        seats_.push_back(std::move(seats));
    }

    bool are_in_turn_ = true;
    std::vector<std::vector<Seat>> seats_{};
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> numbers_{};
};

// Between neighbours in the chain, of one kind both.
std::vector<SeatTalk> talks_of(const Schedule& schedule, const CostModel& model, const FarCuts& far) {
    std::vector<SeatTalk> talks;
    for (std::size_t s = 0; s + 1 < schedule.stages.size(); ++s) {
        const Stage& stage = schedule.stages[s];
        const Stage& next = schedule.stages[s + 1];
        const Turns from = stage.turns();
        const Turns to = next.turns();
        const std::size_t frames = std::lcm(from.round(), to.round());
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> hops;
        for (std::size_t frame = 0; frame < frames; ++frame)
            ++hops[{from.thread_of(frame), to.thread_of(frame)}];
        const double cut_us = model.far_cut_us(next.first_task - 1, far);
        for (const auto& [threads, count] : hops)
            if (stage.kind_of(threads.first) == far.kind && next.kind_of(threads.second) == far.kind)
                talks.push_back({{s, threads.first},
                                 {s + 1, threads.second},
                                 cut_us * static_cast<double>(count) / static_cast<double>(frames)});
    }
    return talks;
}

const CoreResource* resource_of(const Schedule& schedule, std::string_view kind) {
    const auto found = std::ranges::find(schedule.resources, kind, &CoreResource::kind);
    return found == schedule.resources.end() || found->nodes.empty() ? nullptr : &*found;
}

// Clusters of the cores that a resource names, in its order; empty where some are in none of these.
std::vector<std::size_t> clusters_named(const CoreResource& resource, const FarCuts& far) {
    std::vector<std::size_t> named;
    for (const NodeRange& range : resource.nodes) {
        for (int core = range.first; core <= range.last; ++core) {
            const auto has = [&](const std::vector<int>& cluster) {
                return std::ranges::find(cluster, core) != cluster.end();
            };
            const auto found = std::ranges::find_if(far.clusters, has);
            if (range.unit != NodeRange::Unit::kCore || found == far.clusters.end()) return {};
            named.push_back(static_cast<std::size_t>(found - far.clusters.begin()));
        }
    }
    return named;
}

void add_far_cuts(const Schedule& schedule, const CostModel& model, const FarCuts& far,
                  std::vector<std::vector<double>>& far_us) {
    const CoreResource* resource = resource_of(schedule, far.kind);
    if (!resource || resource->smt != 1) return;
    const KindThreads threads(schedule, far.kind);
    const std::vector<std::size_t> clusters = clusters_named(*resource, far);
    if (!threads.are_in_turn() || clusters.size() < threads.size()) return;
    for (const SeatTalk& talk : talks_of(schedule, model, far)) {
        if (clusters[threads.at(talk.from)] == clusters[threads.at(talk.to)]) continue;
        far_us[talk.from.stage][talk.from.thread] += talk.far_us;
        far_us[talk.to.stage][talk.to.thread] += talk.far_us;
    }
}

// Beyond a minute and a half nothing counts any more, so that sums stay far from overflow.
std::int64_t to_ps(double us) {
    constexpr std::int64_t kMostPs = 100'000'000'000'000;
    const double ps = us * 1e6;
    return ps < static_cast<double>(kMostPs) ? std::llround(ps) : kMostPs;
}

ClusterProblem cluster_problem(const Schedule& schedule, const Chain& chain, const CostModel& model,
                               const FarCuts& far, const KindThreads& threads) {
    const std::vector<std::vector<double>> weights_us = thread_weights_us(schedule, chain, model);
    const double waiting_us = host_us(schedule, chain);
    ClusterProblem problem;
    for (std::size_t thread = 0; thread < threads.size(); ++thread) {
        double busy_us = waiting_us;
        for (const Seat& seat : threads.seats(thread))
            busy_us += weights_us[seat.stage][seat.thread] - waiting_us;
        problem.busy_ps.push_back(to_ps(busy_us));
    }
    for (const SeatTalk& talk : talks_of(schedule, model, far))
        problem.talks.push_back({threads.at(talk.from), threads.at(talk.to), to_ps(talk.far_us)});
    for (const std::vector<int>& cluster : far.clusters) problem.rooms.push_back(cluster.size());
    return problem;
}

// Each thread takes the next core of its cluster; the cores that nobody has come last.
CoreResource resource_for(const ClusterChoice& choice, const FarCuts& far) {
    CoreResource resource{.kind = far.kind, .nodes = {}};
    std::vector<std::size_t> taken(far.clusters.size(), 0);
    const auto take = [&](std::size_t cluster) {
        const int core = far.clusters[cluster][taken[cluster]++];
        resource.nodes.push_back({NodeRange::Unit::kCore, core, core});
    };
    std::ranges::for_each(choice.clusters, take);
    for (std::size_t cluster = 0; cluster < far.clusters.size(); ++cluster)
        while (taken[cluster] < far.clusters[cluster].size()) take(cluster);
    return resource;
}

/// A kind whose threads are to be put into clusters.
struct OpenKind {
    const FarCuts* far;
    ClusterProblem problem;
    ClusterChoice choice{};
};

std::vector<OpenKind> open_kinds(const Schedule& schedule, const Chain& chain, const CostModel& model) {
    std::vector<OpenKind> open;
    for (const FarCuts& far : model.far_cuts) {
        const KindThreads threads(schedule, far.kind);
        if (resource_of(schedule, far.kind) || threads.size() == 0 || !threads.are_in_turn()) continue;
        ClusterProblem problem = cluster_problem(schedule, chain, model, far, threads);
        if (std::reduce(problem.rooms.begin(), problem.rooms.end()) >= threads.size())
            open.push_back({&far, std::move(problem)});
    }
    return open;
}

}  // namespace

std::vector<std::vector<double>> far_cuts_us(const Schedule& schedule, const CostModel& model) {
    if (model.far_cuts.empty()) return {};
    std::vector<std::vector<double>> far_us;
    for (const Stage& stage : schedule.stages)
        far_us.emplace_back(static_cast<std::size_t>(stage.threads), 0.0);
    for (const FarCuts& far : model.far_cuts) add_far_cuts(schedule, model, far, far_us);
    return far_us;
}

// First the least period, which no kind has to beat that can be faster; then what takes least within it,
// where a search that is cut short finds it again.
void place_in_clusters(Schedule& schedule, const Chain& chain, const CostModel& model) {
    std::vector<OpenKind> open = open_kinds(schedule, chain, model);
    std::int64_t period_ps = to_ps(period_us(schedule, chain, model));
    for (OpenKind& kind : open) {
        kind.problem.least_period_ps = period_ps;
        kind.choice = best_clusters(kind.problem);
        period_ps = kind.choice.period_ps;
    }
    for (OpenKind& kind : open) {
        kind.problem.least_period_ps = period_ps + kSamePeriodPs;
        ClusterChoice same = best_clusters(kind.problem);
        if (same.period_ps == kind.problem.least_period_ps) kind.choice = std::move(same);
    }
    for (const OpenKind& kind : open) {
        std::erase_if(schedule.resources,
                      [&](const CoreResource& each) { return each.kind == kind.far->kind; });
        schedule.resources.push_back(resource_for(kind.choice, *kind.far));
    }
}

}  // namespace tidemill
