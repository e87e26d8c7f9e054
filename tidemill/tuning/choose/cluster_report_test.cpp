#include "tidemill/tuning/choose/cluster_report.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/testing/made_up_machine.hpp"

namespace tidemill::internal {
namespace {

/// Two clusters of two cores, of two hardware threads each.
Topology two_clusters() {
    return made_up_machine("l3:2 core:2 pu:2", "big=core0-3");
}

/// Ten seconds, of which threads pinned there worked so long.
RunReport report_of(const std::vector<std::pair<std::string, double>>& work_s) {
    RunReport report;
    report.stages_elapsed_s = 10;
    for (const auto& [cores, s] : work_s) {
        report.units.push_back({"unit", false, false});
        ThreadReport thread;
        thread.work_us = s * 1e6;
        thread.cores = cores;
        report.stages.push_back({0, 1, {thread}});
    }
    return report;
}

}  // namespace

TEST_CASE("clusters in reports: how busy their cores were that had threads, stages of one thread together") {
    RunReport report = report_of({{"PU0", 4}, {"PU2", 9}, {"PU0", 3}, {"PU6", 5}});
    tell_clusters(report, two_clusters(), {});
    REQUIRE(report.clusters.size() == 2);
    CHECK(report.clusters[0].cores == "core0-1");
    CHECK(report.clusters[0].cores_used == 2);
    CHECK(report.clusters[0].busy == doctest::Approx(0.8));
    CHECK(report.clusters[1].cores_used == 1);
    CHECK(
        stage_table(report).ends_with("cluster core0-1 (big): 2 of 2 cores used, busy 80.0%\n"
                                      "cluster core2-3 (big): 1 of 2 cores used, busy 50.0%\n"));
    CHECK(to_json(report).find(R"("cores": "core2-3")") != std::string::npos);
    CHECK(to_json(report).find(R"("busy": 0.5)") != std::string::npos);
}

TEST_CASE("clusters in reports: cores on which threads take turns are busy all the time, and no more") {
    RunReport report = report_of({{"PU0", 8}, {"PU0", 9}});
    tell_clusters(report, two_clusters(), {});
    REQUIRE(report.clusters.size() == 2);
    CHECK(report.clusters[0].busy == 1);
    CHECK(report.clusters[1].busy == 0);
}

TEST_CASE("clusters in reports: those that were measured count, not what the topology says") {
    RunReport report = report_of({{"PU0", 4}, {"PU2", 9}});
    tell_clusters(report, two_clusters(), {{"big", {{0, 2}, {3, 1}}, 0.1, 0}});
    REQUIRE(report.clusters.size() == 2);
    CHECK(report.clusters[0].cores == "core0,2");
    CHECK(report.clusters[0].busy == doctest::Approx(0.4));
    CHECK(report.clusters[1].cores == "core1,3");
    CHECK(report.clusters[1].busy == doctest::Approx(0.9));
}

TEST_CASE("clusters in reports: nothing is told of one cluster, and of threads that are not pinned") {
    RunReport loose = report_of({{"any", 4}});
    tell_clusters(loose, two_clusters(), {});
    CHECK(loose.clusters.empty());
    RunReport alike = report_of({{"PU0", 4}});
    tell_clusters(alike, four_cores(), {});
    CHECK(alike.clusters.empty());
    CHECK(stage_table(alike).find("cluster") == std::string::npos);
}

}  // namespace tidemill::internal
