#include "tidemill/run/job/near_cores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace tidemill::internal {

namespace {

constexpr double kSeconds = 0.02;  // a stream may stand still meanwhile
constexpr double kSecondsOfPair = 0.003;
constexpr double kSecondsOfBytes = 0.01;
constexpr double kClearlyFarther = 1.5;
constexpr std::size_t kBytes = 1024;  // enough lines to be told from the word, few enough for the time

double seconds_for(std::size_t cores) {
    const double pairs = static_cast<double>(cores * cores) / 2;
    return std::min(kSeconds, kSecondsOfPair * pairs);
}

bool some_are_far(const CoreDistances& distances) {
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (std::size_t a = 0; a < distances.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            least = std::min(least, distances[a][b]);
            most = std::max(most, distances[a][b]);
        }
    }
    return most > kClearlyFarther * least;
}

// As between the first cores of their clusters, and within one, as in the first that has two. Empty where
// that tells nothing.
CoreDistances distances_by_cluster(const Topology& topology, const std::vector<std::size_t>& used) {
    std::map<std::size_t, std::size_t> sample_of;  // [cluster]
    std::vector<std::size_t> samples;
    std::size_t neighbour = used.size();
    for (std::size_t i = 0; i < used.size(); ++i) {
        const bool is_first = sample_of.try_emplace(topology.cores[used[i]].cluster, samples.size()).second;
        if (is_first) samples.push_back(used[i]);
        if (!is_first && neighbour == used.size()) neighbour = i;
    }
    if (samples.size() < 2 || neighbour == used.size()) return {};
    samples.push_back(used[neighbour]);
    const CoreDistances measured = core_distances(topology, samples, seconds_for(samples.size()));
    if (measured.empty()) return {};
    const auto sample = [&](std::size_t i) { return sample_of[topology.cores[used[i]].cluster]; };
    const double near_ns = measured[sample(neighbour)].back();
    CoreDistances distances(used.size(), std::vector<double>(used.size(), 0.0));
    for (std::size_t a = 0; a < used.size(); ++a)
        for (std::size_t b = 0; b < used.size(); ++b)
            if (a != b) distances[a][b] = sample(a) == sample(b) ? near_ns : measured[sample(a)][sample(b)];
    return distances;
}

CoreDistances distances_of(const Topology& topology, const std::vector<std::size_t>& used) {
    CoreDistances distances = core_distances(topology, used, seconds_for(used.size()));
    return distances.empty() ? distances_by_cluster(topology, used) : distances;
}

/// A mean of trips.
struct MeanTrip {
    double sum_ns = 0;
    std::size_t count = 0;

    void add(double ns) {
        sum_ns += ns;
        ++count;
    }
    double us() const { return sum_ns / static_cast<double>(count) / 1000; }
};

// In whole nanoseconds, since costs are exact decimals.
double far_beyond_near_us(const CoreDistances& distances,
                          const std::vector<std::vector<std::size_t>>& groups) {
    MeanTrip near;
    MeanTrip far;
    for (const std::vector<std::size_t>& here : groups)
        for (const std::vector<std::size_t>& there : groups)
            for (const std::size_t a : here)
                for (const std::size_t b : there)
                    if (a != b) (&here == &there ? near : far).add(distances[a][b]);
    return std::round(1000 * (far.us() - near.us())) / 1000;
}

std::vector<std::size_t> indices_of(const Topology& topology, const std::vector<int>& numbers) {
    std::vector<std::size_t> indices;
    for (const int number : numbers) {
        const auto found = std::ranges::find(topology.cores, number, &Core::number);
        indices.push_back(static_cast<std::size_t>(found - topology.cores.begin()));
    }
    return indices;
}

// Of two cores of one cluster, and one of another.
std::vector<int> near_and_far(const FarCuts& far) {
    const auto here = std::ranges::max_element(
        far.clusters, {}, [](const std::vector<int>& cluster) { return cluster.size(); });
    const auto there = here == far.clusters.begin() ? here + 1 : far.clusters.begin();
    return {(*here)[0], (*here)[1], there->front()};
}

// Each side of a cut has a half of what the bytes of a trip take. In whole picoseconds; 0 where there was no
// time to find out.
double far_byte_us(const Topology& topology, const FarCuts& far) {
    const std::vector<std::size_t> cores = indices_of(topology, near_and_far(far));
    const CoreDistances words = core_distances(topology, cores, kSecondsOfBytes);
    const CoreDistances loads = core_distances(topology, cores, kSecondsOfBytes, kBytes);
    if (words.empty() || loads.empty()) return 0;
    const auto of_bytes_ns = [&](std::size_t there) { return loads[0][there] - words[0][there]; };
    const double beyond_near_ns = std::max(0.0, of_bytes_ns(2) - of_bytes_ns(1));
    return std::round(1000 * beyond_near_ns / 2 / kBytes) / 1e6;
}

}  // namespace

NearCores NearCores::measured(const Topology& topology, const Platform& cores) {
    std::vector<CoreDistances> of_kinds;
    for (const CoreKind& kind : topology.kinds) {
        std::vector<std::size_t> used = kind.cores;
        used.resize(std::min(used.size(), static_cast<std::size_t>(cores.count(kind.name))));
        of_kinds.push_back(distances_of(topology, used));
    }
    NearCores near(topology, of_kinds);
    for (FarCuts& far : near.far_cuts_) far.byte_us = far_byte_us(topology, far);
    return near;
}

NearCores::NearCores(const Topology& topology, const std::vector<CoreDistances>& of_kinds) {
    MeanTrip near;
    for (std::size_t k = 0; k < of_kinds.size(); ++k) {
        const std::vector<std::vector<std::size_t>> groups = near_groups(of_kinds[k], kClearlyFarther);
        for (const std::vector<std::size_t>& group : groups)
            for (std::size_t i = 1; i < group.size(); ++i) near.add(of_kinds[k][group[i - 1]][group[i]]);
        if (some_are_far(of_kinds[k])) add_kind(topology, topology.kinds[k], of_kinds[k], groups);
    }
    if (near.count > 0) hand_over_us_ = near.us();
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
