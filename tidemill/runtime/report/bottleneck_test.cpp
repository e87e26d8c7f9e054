
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/runtime/report/report.hpp"

using namespace tidemill;

namespace {

struct MadeTask {
    const char* name;
    bool replicable;
    double us;  // per frame
};

// 1000 frames in one second, so that a task of 1000 us per frame fills a thread.
RunReport report_of_stages(const std::vector<std::pair<std::vector<MadeTask>, std::size_t>>& stages) {
    RunReport report;
    report.frames = 1000;
    report.elapsed_s = 1;
    for (const auto& [tasks, threads] : stages) {
        StageReport stage{report.units.size(), tasks.size(), {}};
        double work_us = 0;
        for (const MadeTask& task : tasks) {
            DurationReport calls;
            calls.count = 1000;
            calls.total_us = 1000 * task.us;
            report.tasks.push_back({task.name, report.units.size(), calls});
            report.units.push_back({task.name, task.replicable, false});
            work_us += calls.total_us;
        }
        for (std::size_t t = 0; t < threads; ++t) {
            ThreadReport& thread = stage.threads.emplace_back();
            thread.work_us = work_us / static_cast<double>(threads);
            if (work_us > 0) thread.pull_waits.total_us = 1e6 - thread.work_us;
        }
        report.stages.push_back(stage);
    }
    return report;
}

}  // namespace

TEST_CASE("what a source waits for outside is no work, neither its own nor its stage's") {
    RunReport report = report_of_stages({{{{"source.read", false, 900}, {"sink.write", false, 50}}, 1}});
    report.stages_elapsed_s = report.elapsed_s;
    count_as_waiting(report, "source.read", 800e3);
    CHECK(report.tasks[0].calls.total_us == doctest::Approx(100e3));
    CHECK(report.tasks[0].calls.mean_us == doctest::Approx(100));
    CHECK(report.stages[0].threads[0].work_us == doctest::Approx(150e3));
    CHECK(report.stages[0].threads[0].pull_waits.total_us == doctest::Approx(850e3));
    CHECK(bottleneck(report) ==
          "no stage limits: what comes from outside was waited for 80 % of the time, and even stage 1 "
          "(source.read .. sink.write) is busy only 15 % of it");
    count_as_waiting(report, "source.read", 1e9);
    CHECK(report.tasks[0].calls.total_us == 0);
    CHECK(report.stages[0].threads[0].work_us == doctest::Approx(50e3));
    count_as_waiting(report, "nobody", 1e9);
    CHECK(report.tasks[1].calls.total_us == doctest::Approx(50e3));
}

TEST_CASE("a replicable task that fills its stage should get another core") {
    const RunReport report =
        report_of_stages({{{{"source.read", false, 300}}, 1}, {{{"ldpc.decode", true, 1960}}, 2}});
    CHECK(bottleneck(report) ==
          "stage 2 (ldpc.decode) is busy 98 % of the time; ldpc.decode is replicable: give the stage another "
          "core");
}

TEST_CASE("a replicable task beside sequential ones should get a stage of its own") {
    const RunReport report = report_of_stages(
        {{{{"source.read", false, 300}}, 1},
         {{{"ldpc.decode", true, 600}, {"bch.decode", true, 200}, {"sink.write", false, 180}}, 1}});
    CHECK(bottleneck(report) ==
          "stage 2 (ldpc.decode .. sink.write) is busy 98 % of the time; ldpc.decode is 61 % of it; "
          "ldpc.decode is "
          "replicable: give it a stage of its own, with another core");
}

TEST_CASE("a sequential task is to be left alone, and when it is alone only speed helps") {
    CHECK(bottleneck(report_of_stages({{{{"sync.find", false, 700}, {"map.run", true, 250}}, 1}}))
              .ends_with("sync.find is sequential: move the stage's other tasks to other stages"));
    CHECK(bottleneck(report_of_stages({{{{"sync.find", false, 950}}, 1}}))
              .ends_with("sync.find is sequential: only a faster core or faster code helps"));
}

TEST_CASE("a stage in which no task stands out should be split") {
    const RunReport report = report_of_stages(
        {{{{"a.run", false, 240}, {"b.run", false, 250}, {"c.run", false, 240}, {"d.run", false, 240}}, 1}});
    CHECK(
        bottleneck(report).ends_with("no task of it stands out (b.run has 26 %): split it into two stages"));
}

TEST_CASE("when every thread waits most of the time no stage is blamed") {
    const RunReport report = report_of_stages({{{{"a.run", false, 100}}, 1}, {{{"b.run", true, 300}}, 1}});
    CHECK(bottleneck(report).starts_with("no stage limits: even stage 2 (b.run) is busy only 30 %"));
}

TEST_CASE("without times nothing is claimed") {
    CHECK(bottleneck(RunReport{}).starts_with("no bottleneck is known"));
    CHECK(bottleneck(report_of_stages({{{{"a.run", false, 0}}, 1}})).starts_with("no bottleneck is known"));
}

TEST_CASE("a report as JSON has every task, thread and segment, with percentiles") {
    RunReport report =
        report_of_stages({{{{"a.run", false, 900}}, 1}, {{{"b \"quoted\".run", true, 100}}, 3}});
    report.segments.push_back({5, 640, 4, 1, 1000});
    report.latency.count = 1000;
    report.latency.p99_us = 12.5;
    report.stages[1].threads[2].not_pinned = "core 7 is not ours";
    const auto json = nlohmann::json::parse(to_json(report));
    CHECK(json["frames"] == 1000);
    CHECK(json["period_us"] == 1000.0);
    CHECK(json["latency"]["p99_us"] == 12.5);
    CHECK(json["tasks"].size() == 2);
    CHECK(json["tasks"][1]["name"] == "b \"quoted\".run");
    CHECK(json["tasks"][0]["total_us"] == 900000.0);
    CHECK(json["stages"][1]["threads"].size() == 3);
    CHECK(json["stages"][1]["threads"][2]["not_pinned"] == "core 7 is not ours");
    CHECK(json["stages"][0]["threads"][0]["pull_wait"]["count"] == 0);
    CHECK(json["segments"][0]["bytes"] == 640);
    CHECK(json["bottleneck"].get<std::string>() == bottleneck(report));
}
