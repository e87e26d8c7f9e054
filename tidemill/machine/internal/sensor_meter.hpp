#pragma once

#include <string>
#include <vector>

#include "tidemill/machine/energy_meter.hpp"
#include "tidemill/machine/internal/energy_sensor.hpp"

namespace tidemill::internal {

/// Adds up what sensors show: differences of energy counters, trapezoids of power.
class SensorMeter final : public EnergyMeter {
  public:
    SensorMeter(std::string name, std::vector<EnergySensor> sensors);

    const std::string& name() const override { return name_; }
    void start(TimePoint now) override;
    void sample(TimePoint now) override;
    std::span<const EnergyDomain> domains() const override { return domains_; }

  private:
    std::string name_;
    std::vector<EnergySensor> sensors_;
    std::vector<EnergyDomain> domains_;
    std::vector<double> last_;
    TimePoint last_time_{};
};

}  // namespace tidemill::internal
