#include "tidemill/machine/energy_watch.hpp"

#include <atomic>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/machine/platform_error.hpp"

using namespace tidemill;
using doctest::Approx;

namespace {

/// Counts one joule a sample, beside a domain that is inside it, and wakes the thread that waits for samples.
class CountingMeter final : public EnergyMeter {
  public:
    explicit CountingMeter(double joules_per_sample = 1, int fails_at = -1)
        : joules_per_sample_(joules_per_sample), fails_at_(fails_at) {}

    const std::string& name() const override { return name_; }
    void start(TimePoint /*now*/) override { count(0); }
    void sample(TimePoint /*now*/) override {
        count(++samples_);
        samples_.notify_all();
    }
    std::span<const EnergyDomain> domains() const override { return domains_; }

    void wait_for_sample() const { samples_.wait(0); }
    int samples() const { return samples_; }

  private:
    void count(int samples) {
        if (samples == fails_at_) throw PlatformError("unplugged");
        domains_ = {{"whole", samples * joules_per_sample_, true}, {"whole/part", samples * 0.25, false}};
    }

    std::string name_ = "counting";
    double joules_per_sample_;
    int fails_at_;
    std::atomic<int> samples_{0};
    std::vector<EnergyDomain> domains_;
};

}  // namespace

TEST_CASE("energy watch: the total is of the domains that are not inside others") {
    CountingMeter meter;
    EnergyWatch watch(&meter, std::chrono::hours(1));
    const EnergyUse use = watch.stop();
    REQUIRE(use.joules.has_value());
    CHECK(*use.joules == Approx(1));
    CHECK(use.meter == "counting");
    CHECK(use.domains.size() == 2);
    CHECK(use.not_measured.empty());
    CHECK(use.watts().value() == Approx(1 / use.seconds));
    CHECK(use.joules_per(4).value() == Approx(0.25));
    CHECK_FALSE(use.joules_per(0).has_value());
}

TEST_CASE("energy watch: samples are taken while the run goes on") {
    CountingMeter meter;
    EnergyWatch watch(&meter, std::chrono::milliseconds(1));
    meter.wait_for_sample();
    CHECK(watch.stop().joules.value() >= 2);
    const int samples = meter.samples();
    CHECK(watch.stop().joules.value() == Approx(samples));
    CHECK(meter.samples() == samples);
}

TEST_CASE("energy watch: without a meter, with a failing or a dead one, there is a reason and no number") {
    CHECK(EnergyWatch(nullptr).stop().not_measured == "no meter was given");
    for (const int fails_at : {0, 1}) {
        CountingMeter meter(1, fails_at);
        const EnergyUse use = EnergyWatch(&meter, std::chrono::hours(1)).stop();
        CHECK_FALSE(use.joules.has_value());
        CHECK_FALSE(use.watts().has_value());
        CHECK(use.not_measured == "counting: unplugged");
    }
    CountingMeter dead(0);
    const EnergyUse use = EnergyWatch(&dead, std::chrono::hours(1)).stop();
    CHECK_FALSE(use.joules.has_value());
    CHECK(use.not_measured.find("stood still") != std::string::npos);
}
