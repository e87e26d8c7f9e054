#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <string>

#include "tidemill/machine/energy_meter.hpp"
#include "tidemill/machine/repeated.hpp"

namespace tidemill {

/// Measures from its making to stop(), with a thread of its own that samples the meter in between.
class EnergyWatch {
  public:
    /// Without a meter (null) there is no thread either. A meter that fails is a reason in the result, never
    /// an exception.
    explicit EnergyWatch(EnergyMeter* meter,
                         std::chrono::milliseconds period = std::chrono::milliseconds(100));

    /// Ends the measurement and returns what was used; later calls return the same.
    EnergyUse stop();

  private:
    void sample();
    void note(const std::exception_ptr& failure);
    void measure(EnergyUse& use) const;

    EnergyMeter* meter_;
    EnergyMeter::TimePoint begin_{};
    EnergyMeter::TimePoint end_{};
    std::string failure_;
    std::unique_ptr<Repeated> samples_;  // ended before anybody else reads
};

}  // namespace tidemill
