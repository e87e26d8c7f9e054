#include "tidemill/machine/pinning.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/node_list.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill {
namespace {

// A PU that a thread can be pinned to.
struct Place {
    Pu pu;
    std::size_t cluster = 0;
    std::size_t hardware_thread = 0;  // 0: the first of its node
};

std::vector<PuSet> nodes_of_kind(const Topology& topology, const StagePlacement& stage) {
    std::vector<PuSet> nodes;
    for (std::size_t core : topology.kinds[stage.kind].cores) nodes.push_back(topology.cores[core].pus);
    return nodes;
}

std::vector<PuSet> nodes_of(const Topology& topology, const StagePlacement& stage) {
    return stage.nodes.empty() ? nodes_of_kind(topology, stage)
                               : parse_node_list(topology.cores, stage.nodes);
}

std::size_t cluster_of(const Topology& topology, const Pu& pu) {
    for (const Core& core : topology.cores)
        if (std::ranges::find(core.pus, pu) != core.pus.end()) return core.cluster;
    return 0;
}

// All first hardware threads in node order, then all second ones, and so on.
std::vector<Place> ascending_places(const Topology& topology, const StagePlacement& stage) {
    const std::vector<PuSet> nodes = nodes_of(topology, stage);
    std::vector<Place> places;
    for (std::size_t thread = 0; thread < stage.smt; ++thread) {
        bool any = false;
        for (std::size_t node = 0; node < nodes.size(); ++node) {
            if (thread >= nodes[node].size()) continue;
            any = true;
            const Pu pu = nodes[node][thread];
            const std::size_t cluster =
                stage.cluster_size > 0 ? node / stage.cluster_size : cluster_of(topology, pu);
            places.push_back({pu, cluster, thread});
        }
        if (!any) break;
    }
    return places;
}

// Rank within (hardware thread, cluster) first: the n-th place of every cluster before any (n+1)-th.
std::vector<Place> round_robin(const std::vector<Place>& places) {
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> taken;
    std::vector<std::pair<std::pair<std::size_t, std::size_t>, Place>> ranked;
    for (const Place& place : places) {
        const std::size_t rank = taken[{place.hardware_thread, place.cluster}]++;
        ranked.push_back({{place.hardware_thread, rank}, place});
    }
    std::ranges::stable_sort(ranked, {}, &decltype(ranked)::value_type::first);
    std::vector<Place> order;
    order.reserve(ranked.size());
    for (auto& [rank, place] : ranked) order.push_back(place);
    return order;
}

// Cores taken by packed and distant threads so far.
struct Taken {
    std::set<Pu> pus;
    std::map<Pu, std::size_t> halves;  // of cores that are shared, by their first PU
};

std::string what_was_asked(const Topology& topology, const StagePlacement& stage) {
    if (stage.shares_core) return "halves of cores";
    if (stage.nodes.empty()) return fmt::format("{} cores", topology.kinds[stage.kind].name);
    return "places of its node list";
}

[[noreturn]] void refuse(const Topology& topology, const StagePlacement& stage, std::size_t stage_number,
                         std::size_t free, std::size_t existing) {
    throw PlatformError(
        fmt::format("stage {} ({}) wants {} {}, free are {} of {}: give it fewer threads, or pin it "
                    "guided or loose",
                    stage_number, to_string(stage.pinning), stage.threads, what_was_asked(topology, stage),
                    free, existing));
}

// Halves of cores in ascending order, those first whose other half is taken already.
std::vector<PuSet> take_halves(const Topology& topology, const StagePlacement& stage,
                               std::size_t stage_number, Taken& taken) {
    const std::vector<PuSet> nodes = nodes_of(topology, stage);
    std::vector<PuSet> threads;
    for (const PuSet& node : nodes) {
        const bool whole = std::ranges::any_of(node, [&](const Pu& pu) { return taken.pus.contains(pu); });
        std::size_t& halves = taken.halves[node.front()];
        if (halves == 0 && whole) continue;
        for (; halves < 2 && threads.size() < stage.threads; ++halves) {
            threads.push_back({node[halves % node.size()]});
            taken.pus.insert(node.begin(), node.end());
        }
    }
    if (threads.size() < stage.threads)
        refuse(topology, stage, stage_number, threads.size(), 2 * nodes.size());
    return threads;
}

std::vector<PuSet> take_places(const Topology& topology, const StagePlacement& stage,
                               std::size_t stage_number, Taken& taken) {
    std::vector<Place> places = ascending_places(topology, stage);
    if (stage.pinning == Pinning::kDistant) places = round_robin(places);
    const std::size_t existing = places.size();
    std::erase_if(places, [&](const Place& place) { return taken.pus.contains(place.pu); });
    if (places.size() < stage.threads) refuse(topology, stage, stage_number, places.size(), existing);
    std::vector<PuSet> threads;
    for (std::size_t thread = 0; thread < stage.threads; ++thread) {
        taken.pus.insert(places[thread].pu);
        threads.push_back({places[thread].pu});
    }
    return threads;
}

PuSet all_places(const Topology& topology, const StagePlacement& stage) {
    PuSet pus;
    for (const Place& place : ascending_places(topology, stage)) pus.push_back(place.pu);
    std::ranges::sort(pus);
    return pus;
}

void check(const Topology& topology, const StagePlacement& stage, std::size_t stage_number) {
    if (stage.nodes.empty() && stage.kind >= topology.kinds.size())
        throw PlatformError(fmt::format("stage {} wants core kind number {}, but there are {} kinds here",
                                        stage_number, stage.kind, topology.kinds.size()));
    if (stage.smt == 0) throw PlatformError(fmt::format("stage {}: smt must be at least 1", stage_number));
}

std::vector<PuSet> place_stage(const Topology& topology, const StagePlacement& stage,
                               std::size_t stage_number, Taken& taken) {
    switch (stage.pinning) {
        case Pinning::kLoose:
            break;
        case Pinning::kGuided:
            return std::vector<PuSet>(stage.threads, all_places(topology, stage));
        case Pinning::kPacked:
        case Pinning::kDistant:
            return stage.shares_core ? take_halves(topology, stage, stage_number, taken)
                                     : take_places(topology, stage, stage_number, taken);
    }
    return std::vector<PuSet>(stage.threads);
}

}  // namespace

std::vector<std::vector<PuSet>> place_threads(const Topology& topology,
                                              std::span<const StagePlacement> stages) {
    std::vector<std::vector<PuSet>> placed;
    Taken taken;
    for (const StagePlacement& stage : stages) {
        const std::size_t number = stage.number > 0 ? stage.number : placed.size() + 1;
        check(topology, stage, number);
        placed.push_back(place_stage(topology, stage, number, taken));
    }
    return placed;
}

}  // namespace tidemill
