#include "tidemill/tuning/profile/calibration.hpp"

#include <algorithm>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/runtime/testing/made_up_machine.hpp"

using namespace tidemill;

namespace {

/// Says that the machine draws 12 W, whatever it does.
class TwelveWatts final : public EnergyMeter {
  public:
    const std::string& name() const override { return name_; }
    void start(TimePoint now) override {
        start_ = now;
        domain_.joules = 0;
    }
    void sample(TimePoint now) override {
        domain_.joules = 12 * std::chrono::duration<double>(now - start_).count();
    }
    std::span<const EnergyDomain> domains() const override { return {&domain_, 1}; }

  private:
    std::string name_ = "twelve watts";
    TimePoint start_;
    EnergyDomain domain_{"all", 0};
};

Chain chain_of(const Topology& topology) {
    Chain chain{{}, {{"a", false, {}}, {"b", true, {}}}};
    for (const CoreKind& kind : topology.kinds) {
        chain.kinds.push_back(kind.name);
        for (ChainTask& task : chain.tasks) task.weight_us.push_back(10);
    }
    return chain;
}

}  // namespace

TEST_CASE("whatever is measured, the model is one that strategies take, with a slowdown for each core") {
    const Topology topology = Topology::here();
    const Calibration found = calibrate(topology, {.seconds = 0.002, .rounds = 3});
    CHECK_NOTHROW(check(found.model, chain_of(topology)));
    REQUIRE(found.model.kinds.size() == topology.kinds.size());
    for (std::size_t kind = 0; kind < topology.kinds.size(); ++kind) {
        const std::size_t slowdowns = found.model.kinds[kind].slowdown.size();
        CHECK((slowdowns == topology.kinds[kind].cores.size() || (slowdowns == 1 && found.is_disturbed)));
        CHECK(std::ranges::is_sorted(found.model.kinds[kind].slowdown));
    }
    CHECK(found.hops.size() == (topology.cores.size() > 1 ? 5 : 0));
    for (const HopMeasurement& hop : found.hops) {
        CHECK(hop.lower_quartile_us <= hop.upper_quartile_us);
        CHECK((!hop.is_disturbed || found.model.hop_us == 0));
    }
    CHECK_FALSE(found.model.has_power());
    REQUIRE_FALSE(found.not_measured.empty());
    CHECK(found.not_measured.back() == "busy_w, idle_w: no meter was given");
}

TEST_CASE("a meter's idle power is shared by all cores, and what computing adds by those that compute") {
    const Topology topology = Topology::here();
    TwelveWatts meter;
    const Calibration found = calibrate(topology, {.seconds = 0.002, .rounds = 3, .energy_meter = &meter});
    const double share_w = 12 / static_cast<double>(topology.cores.size());
    for (const KindCosts& kind : found.model.kinds) {
        CHECK(kind.idle_w == doctest::Approx(share_w).epsilon(0.001));
        CHECK(kind.busy_w == doctest::Approx(share_w).epsilon(0.001));
    }
}

TEST_CASE(
    "how much slower two threads of a core are is measured where it has two, and told where it has not") {
    const CalibrationOptions options{.seconds = 0.002, .rounds = 3, .siblings = true};
    const auto on = [&](const char* description) {
        return calibrate(internal::made_up_machine(description, "big=core0"), options);
    };
    const Calibration alone = on("core:1 pu:1");
    CHECK_FALSE(alone.model.kinds[0].shared_slowdown);
    CHECK(std::ranges::count(alone.not_measured, "shared_slowdown: big cores have one thread each") == 1);
    if (std::thread::hardware_concurrency() < 2) return;
    const Calibration two = on("core:1 pu:2");
    REQUIRE((two.model.kinds[0].shared_slowdown || two.is_disturbed));
    CHECK(two.model.kinds[0].shared_slowdown.value_or(1) >= 1);
    CHECK_NOTHROW(check(two.model, Chain{{"big"}, {{"a", true, {10}}}}));
}
