#include "tidemill/tuning/choose/known_factors.hpp"

#include <fstream>
#include <memory>

#include <doctest/doctest.h>

#include "tidemill/scheduling/unequal/bridge_error.hpp"
#include "tidemill/testing/scratch_folder.hpp"
#include "tidemill/tuning/graph_run.hpp"

namespace tidemill {
namespace {

const Platform kBoth{.big = 1, .little = 1};

RunReport report_of_two_units() {
    RunReport report;
    report.frames = 100;
    report.units = {{"source.read", false, false}, {"filter.run", true, false}};
    report.on_kinds = {{0, "big", 100, 1000, 1.0, "measured"},
                       {0, "little", 0, 0, std::nullopt, "absent"},
                       {1, "big", 150, 3000, 1.0, "estimated"},
                       {1, "little", 50, 4000, 4.0, "estimated"}};
    return report;
}

}  // namespace

TEST_CASE("known factors: what a run has seen is there for the next one, and nothing else") {
    const ScratchFolder folder;
    const RunConfig how{.executor = ExecutorKind::dynamic, .remember = folder / "known.json"};
    const KnownFactors none(how, kBoth);
    DynamicOptions workers{.kind_names = {"big", "little"}};
    none.tell(workers);
    CHECK(workers.known_us.empty());
    none.remember(report_of_two_units());

    KnownFactors(how, kBoth).tell(workers);
    CHECK(workers.known_us["source.read"] == std::vector<double>{10, 0});
    CHECK(workers.known_us["filter.run"] == std::vector<double>{20, 80});
    CHECK(workers.explores);
    const bridge::FactorFile file = bridge::read_factor_file(how.remember);
    CHECK(file.find("filter.run")->calls_per_frame == 2);
    CHECK(file.find("filter.run")->kinds.at("little").quality == bridge::Quality::estimated);
    CHECK(file.find("source.read")->kinds.size() == 1);
}

TEST_CASE("known factors: what is given ahead is not tried, and of other kinds of cores it is refused") {
    auto file = std::make_shared<bridge::FactorFile>();
    file->cores = kBoth;
    file->tasks = {{.name = "a", .kinds = {{"big", {5, 100}}, {"little", {15, 100}}}}};
    const RunConfig how{.executor = ExecutorKind::dynamic, .factors = file};
    DynamicOptions workers{.kind_names = {"big", "little"}};
    KnownFactors(how, kBoth).tell(workers);
    CHECK_FALSE(workers.explores);
    Platform tiny;
    tiny.set("tiny", 1);
    CHECK_THROWS_WITH_AS(KnownFactors(how, tiny), doctest::Contains("kind 'tiny'"), bridge::BridgeError);
}

TEST_CASE("known factors: a damaged file stops the run before it begins, and stays as it is") {
    const ScratchFolder folder;
    const std::string path = folder / "known.json";
    std::ofstream(path) << "{\"version\": 1";
    const RunConfig how{.executor = ExecutorKind::dynamic, .remember = path};
    CHECK_THROWS_WITH_AS(KnownFactors(how, kBoth), doctest::Contains(path.c_str()), bridge::BridgeError);
}

}  // namespace tidemill
