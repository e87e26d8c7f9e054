#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemill {

/// Energy of one part of the machine, since the meter was started.
struct EnergyDomain {
    std::string name;  ///< as the meter calls it: "package-0", "package-0/dram", "ina3221/VDD_IN"
    double joules = 0;
    bool in_total = true;  ///< false: inside another domain, or around the others
};

/// The energy that went by during a run: a number of a named meter, or why there is none.
struct EnergyUse {
    std::optional<double> joules = {};  ///< of the domains that make the total
    double seconds = 0;                 ///< between the first reading and the last
    std::string meter = {};
    std::vector<EnergyDomain> domains = {};
    std::string not_measured = "no meter was given";  ///< the reason, while `joules` is empty

    /// Mean power, where energy was measured.
    std::optional<double> watts() const;

    /// Energy per frame (or anything else that was counted), where it was measured and there were any.
    std::optional<double> joules_per(double count) const;
};

/// Reports the energy that was used since it was started. Used by one thread at a time.
class EnergyMeter {
  public:
    using TimePoint = std::chrono::steady_clock::time_point;

    virtual ~EnergyMeter() = default;

    /// The name of what it reads, for reports: "powercap", "hwmon".
    virtual const std::string& name() const = 0;

    /// Sets all domains to 0 joules and counts from now on; throws PlatformError when a sensor does not
    /// answer.
    virtual void start(TimePoint now) = 0;

    /// Adds what was used since the last call. Power is integrated and counters wrap: call it many times a
    /// minute. Throws PlatformError when a sensor no longer answers or makes no sense.
    virtual void sample(TimePoint now) = 0;

    virtual std::span<const EnergyDomain> domains() const = 0;
};

/// The machine to look for meters on; tests bring their own.
struct EnergySystem {
    std::string sys_root = "/sys";
    /// Library of NVIDIA's driver for the energy of GPUs.
    std::string nvml_library = "libnvidia-ml.so.1";
};

/// A meter, or why there is none: one of the two is there.
struct FoundEnergyMeter {
    std::unique_ptr<EnergyMeter> meter;
    std::string reason;
};

/// Looks for a meter. `choice` is one of
/// - "auto": the first that answers of powercap, hwmon;
/// - "none";
/// - "powercap": the processor's own counters (RAPL);
/// - "hwmon" or "hwmon:CHIP/LABEL": a power or energy sensor of the board;
/// - "nvml": GPUs of NVIDIA, a domain each;
/// - "file:PATH": a file whose last line is kept up to date by somebody else, such as "12.5 W" or "3.4 kJ";
/// - "command:TEXT": a shell command that goes on printing such lines while the meter lives.
/// Throws PlatformError for any other choice, and when the meter that was asked for does not answer.
FoundEnergyMeter find_energy_meter(std::string_view choice = "auto", const EnergySystem& system = {});

}  // namespace tidemill
