#include <doctest/doctest.h>

#include "tidemill/run/sequence.hpp"

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

EnergyUse energy_of_a_run(EnergyMeter* meter) {
    Graph graph;
    graph.add(task("tick", TaskOptions{}, out<int>("t"), [](std::span<int> t) { t[0] = 1; }));
    return Sequence(graph).run({.frames = 6, .energy_meter = meter}).energy;
}

}  // namespace

TEST_CASE("a run's report tells the energy of the meter that it was given, and only then") {
    ThreeJoules meter;
    const EnergyUse use = energy_of_a_run(&meter);
    CHECK(use.joules.value() == Approx(3));
    CHECK(use.joules_per(6).value() == Approx(0.5));
    CHECK(use.meter == "three joules");
    CHECK_FALSE(energy_of_a_run(nullptr).joules.has_value());
    CHECK(energy_of_a_run(nullptr).not_measured == "no meter was given");
}
