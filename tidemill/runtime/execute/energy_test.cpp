#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/runtime/execute/sequence.hpp"

using namespace tidemill;
using doctest::Approx;

namespace {

/// Stands at 3 joules when it is first sampled after its start.
class ThreeJoules final : public EnergyMeter {
  public:
    const std::string& name() const override { return name_; }
    void start(TimePoint /*now*/) override { domain_.joules = 0; }
    void sample(TimePoint /*now*/) override { domain_.joules = 3; }
    std::span<const EnergyDomain> domains() const override { return {&domain_, 1}; }

  private:
    std::string name_ = "three joules";
    EnergyDomain domain_{"all", 0};
};

RunReport report_of_a_run(EnergyMeter* meter) {
    Graph graph;
    graph.add(task("tick", out<int>("t"), [](std::span<int> t) { t[0] = 1; }));
    return Sequence(graph).run({.frames = 6, .energy_meter = meter});
}

}  // namespace

TEST_CASE("a run's report tells the energy of the meter that it was given, and only then") {
    ThreeJoules meter;
    const EnergyUse use = report_of_a_run(&meter).energy;
    CHECK(use.joules.value() == Approx(3));
    CHECK(use.joules_per(6).value() == Approx(0.5));
    CHECK(use.meter == "three joules");
    CHECK_FALSE(report_of_a_run(nullptr).energy.joules.has_value());
    CHECK(report_of_a_run(nullptr).energy.not_measured == "no meter was given");
}

TEST_CASE("energy in JSON and in words is a number of a named meter, or why there is none") {
    ThreeJoules meter;
    const RunReport measured = report_of_a_run(&meter);
    const auto energy = nlohmann::json::parse(to_json(measured))["energy"];
    CHECK(energy["joules"] == 3.0);
    CHECK(energy["joules_per_frame"] == 0.5);
    CHECK(energy["meter"] == "three joules");
    CHECK(energy["domains"]["all"] == 3.0);
    CHECK(energy_line(measured.energy, measured.frames).find("500 mJ a frame") != std::string::npos);
    const RunReport blind = report_of_a_run(nullptr);
    const auto none = nlohmann::json::parse(to_json(blind))["energy"];
    CHECK(none["joules"].is_null());
    CHECK(none["average_watts"].is_null());
    CHECK(none["not_measured"] == "no meter was given");
    CHECK(energy_line(blind.energy, 6) == "energy     not measured (no meter was given)\n");
}
