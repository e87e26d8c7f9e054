#include "tidemill/machine/core_distance.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

using namespace tidemill;

TEST_CASE("core distance: a row goes on with the nearest core that is left") {
    // 0 and 2 share a cache, and so do 1 and 3.
    const CoreDistances distances{{0, 200, 50, 220}, {200, 0, 210, 60}, {50, 210, 0, 190}, {220, 60, 190, 0}};
    CHECK(row_of_near(distances) == std::vector<std::size_t>{0, 2, 3, 1});
    CHECK(row_of_near({{0, 5, 5}, {5, 0, 5}, {5, 5, 0}}) == std::vector<std::size_t>{0, 1, 2});
    CHECK(row_of_near({}).empty());
    CHECK(row_of_near({{0}}) == std::vector<std::size_t>{0});
}

TEST_CASE("core distance: groups are of cores that are near each other, over others too") {
    using Groups = std::vector<std::vector<std::size_t>>;
    const CoreDistances in_twos{{0, 200, 50, 220}, {200, 0, 210, 60}, {50, 210, 0, 190}, {220, 60, 190, 0}};
    CHECK(near_groups(in_twos, 1.5) == Groups{{0, 2}, {3, 1}});
    CHECK(near_groups(in_twos, 5) == Groups{{0, 2, 3, 1}});
    CHECK(near_groups({{0, 5, 9}, {5, 0, 5}, {9, 5, 0}}, 1.5) == Groups{{0, 1, 2}});
    CHECK(near_groups({}, 1.5).empty());
}

TEST_CASE("core distance: some are far where the farthest two are far beyond the nearest") {
    const CoreDistances in_twos{{0, 200, 50, 220}, {200, 0, 210, 60}, {50, 210, 0, 190}, {220, 60, 190, 0}};
    CHECK(some_are_far(in_twos, 1.5));
    CHECK_FALSE(some_are_far(in_twos, 5));
    CHECK_FALSE(some_are_far({}, 1.5));
    CHECK_FALSE(some_are_far({{0}}, 1.5));
}

TEST_CASE("core distance: rows and groups have each core once, whatever was measured") {
    const double inf = std::numeric_limits<double>::infinity();
    for (const double same : {0.0, 1.0, inf}) {
        const CoreDistances alike{{0, same, same}, {same, 0, same}, {same, same, 0}};
        CHECK(row_of_near(alike) == std::vector<std::size_t>{0, 1, 2});
        CHECK(near_groups(alike, 1.5) == std::vector<std::vector<std::size_t>>{{0, 1, 2}});
    }
}

TEST_CASE("core distance: it takes time from core to core, or there is none to tell") {
    const Topology& topology = Topology::here();
    std::vector<std::size_t> cores;
    for (std::size_t core = 0; core < std::min<std::size_t>(3, topology.cores.size()); ++core)
        cores.push_back(core);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1000}}) {
        const CoreDistances distances = core_distances(topology, cores, 2, bytes);
        if (cores.size() < 2) CHECK(distances.empty());
        for (std::size_t a = 0; a < distances.size(); ++a)
            for (std::size_t b = 0; b < distances.size(); ++b) CHECK((distances[a][b] > 0) == (a != b));
    }
}

TEST_CASE("core distance: too many pairs for the time, and cores that are not ours, are not told") {
    const Topology& here = Topology::here();
    CHECK(core_distances(here, std::vector<std::size_t>(100, 0), 0.05).empty());
    TopologySource source;
    source.machine = TopologySource::Machine::kSynthetic;
    source.description = "core:4096 pu:1";
    source.kinds = "big=core4094-4095";
    CHECK(core_distances(Topology::load(source), std::vector<std::size_t>{0, 1}, 0.05).empty());
}
