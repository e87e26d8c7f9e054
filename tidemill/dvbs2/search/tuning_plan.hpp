#pragma once

#include <optional>

#include "tidemill/dvbs2/search/carrier_look.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2 {

/// Carrier of a recording that is wanted.
struct TuningRequest {
    double symbol_rate_hz = 0;
    double rolloff = 0.20;
    std::optional<double> offset_hz{};  ///< about where it lies; none: about the middle
};

/// Stages that a look at the spectrum puts before a receiver.
struct TuningPlan {
    std::optional<Tuning> tuning{};         ///< none: the receiver takes the samples as they are
    std::optional<ObservedCarrier> seen{};  ///< none: nothing with the carrier's shape
};

/// Looks for the carrier, and lays the tuner where it lies. A receiver takes a carrier about the middle by
/// itself, at 2 to 16 samples a symbol, where no other signal lies beside it. Reads the beginning of the
/// source. Throws Dvbs2Error as check_tuning().
TuningPlan plan_tuning(io::SampleSource& source, const TuningRequest& wish);

}  // namespace tidemill::dvbs2
