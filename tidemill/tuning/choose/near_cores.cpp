#include "tidemill/tuning/choose/near_cores.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tidemill::internal {

namespace {

constexpr double kSeconds = 0.02;  // a stream may stand still meanwhile
constexpr double kSecondsOfPair = 0.003;
constexpr double kSecondsOfBytes = 0.01;
constexpr double kClearlyFarther = 1.5;
constexpr std::size_t kMostMeasured = 10;  // cores: 45 pairs
constexpr std::size_t kBytes = 1024;       // enough lines to differ from the word, few enough for the time

double seconds_for(std::size_t cores) {
    const double pairs = static_cast<double>(cores) * (static_cast<double>(cores) - 1) / 2;
    return std::min(kSeconds, kSecondsOfPair * pairs);
}

/// A mean of trips.
struct MeanTrip {
    double sum_ns = 0;
    std::size_t count = 0;

    void add(double ns) {
        sum_ns += ns;
        ++count;
    }
    double ns() const { return sum_ns / static_cast<double>(count); }
};

/// Clusters of cores, which are numbered by their places among those that are used.
using Clusters = std::vector<std::vector<std::size_t>>;

Clusters clusters_of(const Topology& topology, const std::vector<std::size_t>& used) {
    std::map<std::size_t, std::vector<std::size_t>> clusters;
    for (std::size_t i = 0; i < used.size(); ++i) clusters[topology.cores[used[i]].cluster].push_back(i);
    Clusters all;
    for (auto& [number, cores] : clusters) all.push_back(std::move(cores));
    return all;
}

/// Clusters that stand for all, evenly among them, as they were measured.
struct Samples {
    std::size_t count;
    std::size_t all;
    CoreDistances far_ns{};  // between their first cores
    double near_ns = 0;      // within one that has two

    std::size_t cluster(std::size_t sample) const { return sample * all / count; }
};

// Nothing where that shows nothing.
std::optional<Samples> measured_samples(const Clusters& clusters, const std::vector<std::size_t>& used,
                                        const MeasureDistances& measure) {
    Samples samples{.count = std::min(clusters.size(), kMostMeasured - 1), .all = clusters.size()};
    std::vector<std::size_t> cores;
    std::optional<std::size_t> with_two;
    for (std::size_t sample = 0; sample < samples.count; ++sample) {
        const std::vector<std::size_t>& cluster = clusters[samples.cluster(sample)];
        cores.push_back(used[cluster.front()]);
        if (!with_two && cluster.size() > 1) with_two = sample;
    }
    if (samples.count < 2 || !with_two) return std::nullopt;
    cores.push_back(used[clusters[samples.cluster(*with_two)][1]]);
    samples.far_ns = measure(cores, seconds_for(cores.size()), 0);
    if (samples.far_ns.empty()) return std::nullopt;
    samples.near_ns = samples.far_ns[*with_two].back();
    return samples;
}

// [cluster][cluster], and near within one; those that were not measured are as far as the others' mean.
CoreDistances between_clusters(const Samples& samples) {
    MeanTrip mean;
    for (std::size_t a = 0; a < samples.count; ++a)
        for (std::size_t b = 0; b < a; ++b) mean.add(samples.far_ns[a][b]);
    CoreDistances between(samples.all, std::vector<double>(samples.all, mean.ns()));
    for (std::size_t a = 0; a < samples.count; ++a)
        for (std::size_t b = 0; b < samples.count; ++b)
            between[samples.cluster(a)][samples.cluster(b)] = samples.far_ns[a][b];
    for (std::size_t cluster = 0; cluster < samples.all; ++cluster)
        between[cluster][cluster] = samples.near_ns;
    return between;
}

// As between the first cores of the topology's clusters. Empty where that shows nothing.
CoreDistances distances_by_cluster(const Topology& topology, const std::vector<std::size_t>& used,
                                   const MeasureDistances& measure) {
    const Clusters clusters = clusters_of(topology, used);
    const std::optional<Samples> samples = measured_samples(clusters, used, measure);
    if (!samples) return {};
    const CoreDistances between = between_clusters(*samples);
    CoreDistances distances(used.size(), std::vector<double>(used.size(), 0.0));
    for (std::size_t here = 0; here < clusters.size(); ++here)
        for (std::size_t there = 0; there < clusters.size(); ++there)
            for (const std::size_t a : clusters[here])
                for (const std::size_t b : clusters[there])
                    if (a != b) distances[a][b] = between[here][there];
    return distances;
}

CoreDistances distances_of(const Topology& topology, const std::vector<std::size_t>& used,
                           const MeasureDistances& measure) {
    if (used.size() <= kMostMeasured) return measure(used, seconds_for(used.size()), 0);
    return distances_by_cluster(topology, used, measure);
}

// In whole nanoseconds, since costs are exact decimals. Cores of a long chain of near ones may be farther
// from each other than from those of another.
double far_beyond_near_us(const CoreDistances& distances, const Clusters& groups) {
    MeanTrip near;
    MeanTrip far;
    for (const std::vector<std::size_t>& here : groups)
        for (const std::vector<std::size_t>& there : groups)
            for (const std::size_t a : here)
                for (const std::size_t b : there)
                    if (a != b) (&here == &there ? near : far).add(distances[a][b]);
    return std::round(std::max(0.0, far.ns() - near.ns())) / 1000;
}

std::vector<std::size_t> indices_of(const Topology& topology, const std::vector<int>& numbers) {
    std::vector<std::size_t> indices;
    for (const int number : numbers) {
        const auto found = std::ranges::find(topology.cores, number, &Core::number);
        indices.push_back(static_cast<std::size_t>(found - topology.cores.begin()));
    }
    return indices;
}

// Two cores of one cluster, and one of another.
std::vector<int> near_and_far(const FarCuts& far) {
    const auto here = std::ranges::max_element(
        far.clusters, {}, [](const std::vector<int>& cluster) { return cluster.size(); });
    const auto there = here == far.clusters.begin() ? here + 1 : far.clusters.begin();
    return {(*here)[0], (*here)[1], there->front()};
}

// Each side of a cut has a half of what the bytes of a trip take. In whole picoseconds; 0 where there was no
// time to find out.
double far_byte_us(const Topology& topology, const FarCuts& far, const MeasureDistances& measure) {
    const std::vector<std::size_t> cores = indices_of(topology, near_and_far(far));
    const CoreDistances words = measure(cores, kSecondsOfBytes, 0);
    const CoreDistances loads = measure(cores, kSecondsOfBytes, kBytes);
    if (words.empty() || loads.empty()) return 0;
    const auto of_bytes_ns = [&](std::size_t there) { return loads[0][there] - words[0][there]; };
    const double beyond_near_ns = std::max(0.0, of_bytes_ns(2) - of_bytes_ns(1));
    return std::round(1000 * beyond_near_ns / 2 / kBytes) / 1e6;
}

}  // namespace

NearCores NearCores::measured(const Topology& topology, const Platform& cores) {
    return measured(topology, cores,
                    [&](std::span<const std::size_t> some, double seconds, std::size_t bytes) {
                        return core_distances(topology, some, seconds, bytes);
                    });
}

NearCores NearCores::measured(const Topology& topology, const Platform& cores,
                              const MeasureDistances& measure) {
    std::vector<CoreDistances> of_kinds;
    for (const CoreKind& kind : topology.kinds) {
        std::vector<std::size_t> used = kind.cores;
        used.resize(std::min(used.size(), static_cast<std::size_t>(cores.count(kind.name))));
        of_kinds.push_back(distances_of(topology, used, measure));
    }
    NearCores near(topology, of_kinds);
    for (FarCuts& far : near.far_cuts_) far.byte_us = far_byte_us(topology, far, measure);
    return near;
}

NearCores::NearCores(const Topology& topology, const std::vector<CoreDistances>& of_kinds) {
    MeanTrip near;
    for (std::size_t k = 0; k < of_kinds.size(); ++k) {
        const Clusters groups = near_groups(of_kinds[k], kClearlyFarther);
        for (const std::vector<std::size_t>& group : groups)
            for (std::size_t i = 1; i < group.size(); ++i) near.add(of_kinds[k][group[i - 1]][group[i]]);
        if (some_are_far(of_kinds[k], kClearlyFarther))
            add_kind(topology, topology.kinds[k], of_kinds[k], groups);
    }
    if (near.count > 0) hand_over_us_ = near.ns() / 1000;
}

void NearCores::add_kind(const Topology& topology, const CoreKind& kind, const CoreDistances& distances,
                         const std::vector<std::vector<std::size_t>>& groups) {
    CoreResource& row = rows_.emplace_back(CoreResource{kind.name, {}, 1, {}});
    FarCuts far{.kind = kind.name};
    for (const std::vector<std::size_t>& group : groups) {
        std::vector<int>& cluster = far.clusters.emplace_back();
        for (const std::size_t core : group) cluster.push_back(topology.cores[kind.cores[core]].number);
        for (const int number : cluster) row.nodes.push_back({NodeRange::Unit::kCore, number, number});
    }
    if (groups.size() < 2) return;
    far.hop_us = far_beyond_near_us(distances, groups);
    far_cuts_.push_back(std::move(far));
}

std::vector<FarCuts> NearCores::far_cuts_beside(const Schedule& given) const {
    std::vector<FarCuts> open = far_cuts_;
    std::erase_if(open, [&](const FarCuts& far) {
        const auto named = std::ranges::find(given.resources, far.kind, &CoreResource::kind);
        return named != given.resources.end() && !named->nodes.empty();
    });
    return open;
}

void NearCores::place(Schedule& schedule) const {
    for (const CoreResource& row : rows_) {
        const auto known = std::ranges::find(schedule.resources, row.kind, &CoreResource::kind);
        if (known == schedule.resources.end())
            schedule.resources.push_back(row);
        else if (known->nodes.empty())
            *known = row;
    }
}

}  // namespace tidemill::internal
