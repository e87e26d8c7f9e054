#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidemill/io/live/rtl_tcp.hpp"

namespace tidemill::cli {

/// Options of a radio.
struct RadioOptions {
    std::optional<double> frequency_hz{};  ///< where the carrier is, before any converter
    std::optional<double> lo_hz{};         ///< a converter's oscillator: the radio is tuned so much lower
    std::optional<double> gain_db{};       ///< none: the radio chooses
    std::optional<int> correction_ppm{};
    bool digital_agc = false;
    bool bias_tee = false;
    std::string antenna{};                ///< empty: the radio chooses
    std::vector<std::string> settings{};  ///< of its module, each as KEY=VALUE

    bool any() const {
        return frequency_hz || lo_hz || gain_db || correction_ppm || digital_agc || bias_tee ||
               !antenna.empty() || !settings.empty();
    }
};

/// The same as options of a command line, each behind a space.
std::string options_text(const RadioOptions& options);

/// Settings of a radio, and the carrier's position with them.
struct RadioPlan {
    io::RadioSettings settings;
    std::optional<double> carrier_hz{};  ///< from the centre, where it was put aside
};

/// Demands on a radio's samples.
struct RadioDemand {
    std::optional<double> sample_rate_hz{};
    double symbol_rate_hz = 0;       ///< of the carrier; 0: nobody knows
    bool carrier_is_placed = false;  ///< the user has said where it lies in the samples
};

/// Tunes a radio beside a carrier whose width is known, where there is room: away from the peak that radios
/// have in the middle of what they give. Throws WrongUsage for what is missing or cannot be.
RadioPlan radio_plan(const RadioOptions& options, const RadioDemand& wanted);

}  // namespace tidemill::cli
