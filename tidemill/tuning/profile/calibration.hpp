#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/base/thread_habits.hpp"
#include "tidemill/machine/energy_meter.hpp"
#include "tidemill/machine/topology.hpp"
#include "tidemill/scheduling/static/cost_model.hpp"

namespace tidemill {

/// How to measure a machine.
struct CalibrationOptions {
    WaitMode waiting = WaitMode::mixed;  ///< of the pipelines whose hops are measured
    double seconds = 0.05;               ///< of each measurement
    int rounds = 7;                      ///< of each
    bool siblings = false;               ///< also the two threads of a core, which schedules then may share
    EnergyMeter* energy_meter = nullptr;
    std::function<void(std::string_view)> progress{};  ///< called with what is measured next
};

/// Measured cost of a cut for frames of one size.
struct HopMeasurement {
    std::size_t bytes = 0;
    double cost_us = 0;            ///< in the middle of the rounds
    double lower_quartile_us = 0;  ///< of the rounds
    double upper_quartile_us = 0;
    bool is_disturbed = false;  ///< by other programs, so that the rounds do not repeat it
};

/// Measurements of a machine, and the model that follows.
struct Calibration {
    CostModel model;
    std::vector<HopMeasurement> hops;       ///< from which hop_us and byte_us were fitted
    std::vector<std::string> not_measured;  ///< what is not in the model, and why
    bool is_disturbed = false;              ///< by other programs, whatever of it
};

/// Measures with this machine's cores, pinned:
/// - hop_us and byte_us: the period of a real pipeline of two stages of equal work, beyond the work that the
///   same two tasks take in order on one core, for frames of several sizes;
/// - slowdowns: how much longer computing takes as 1, 2, ... cores of a kind do it at the same time;
/// - where siblings are wanted, shared_slowdown: how much longer it takes on both threads of a core;
/// - watts of each kind, by the meter: all cores of the kind computing, and none of any.
/// Each is measured in windows of a millisecond or less, and those in which other programs had the cores do
/// not count. Where these were in so many that the rest does not repeat, the number stays out of the model,
/// as what the machine cannot tell does; watts stay, with what other programs draw.
Calibration calibrate(const Topology& topology, const CalibrationOptions& options = {});

}  // namespace tidemill
