#include "tidemill/machine/internal/sensor_meter.hpp"

#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/platform_error.hpp"

namespace tidemill::internal {

namespace {

// Sampled often, a counter that starts over has not come far. One that has was set back (by a suspended or a
// replaced device), and nobody knows what was used.
double counted_joules(const EnergySensor& sensor, double before, double now) {
    if (now >= before) return now - before;
    const double joules = now - before + sensor.wraps_at_joules;
    if (joules < 0 || joules > sensor.wraps_at_joules / 2) {
        throw PlatformError(fmt::format("{} went back from {} J to {} J", sensor.name, before, now));
    }
    return joules;
}

}  // namespace

SensorMeter::SensorMeter(std::string name, std::vector<EnergySensor> sensors)
    : name_(std::move(name)), sensors_(std::move(sensors)) {
    for (const EnergySensor& sensor : sensors_) domains_.push_back({sensor.name, 0, sensor.in_total});
}

void SensorMeter::start(TimePoint now) {
    last_.clear();
    for (const EnergySensor& sensor : sensors_) last_.push_back(sensor.read());
    for (EnergyDomain& domain : domains_) domain.joules = 0;
    last_time_ = now;
}

void SensorMeter::sample(TimePoint now) {
    const double seconds = std::chrono::duration<double>(now - last_time_).count();
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
        const double value = sensors_[i].read();
        const double before = std::exchange(last_[i], value);
        const bool power = sensors_[i].measures == Measures::kWatts;
        domains_[i].joules +=
            power ? (before + value) / 2 * seconds : counted_joules(sensors_[i], before, value);
    }
    last_time_ = now;
}

}  // namespace tidemill::internal
