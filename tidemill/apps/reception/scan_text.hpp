#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tidemill/apps/reception/reception.hpp"
#include "tidemill/dvbs2/receiver/carrier_survey.hpp"

namespace tidemill::cli {

/// A band and what its carriers are.
struct ScannedBand {
    std::string recording;      ///< as the user named it
    std::string how_to_read{};  ///< options that a call needs to read it: "--rate 2400000"; may be empty
    double sample_rate_hz = 0;
    std::optional<double> center_frequency_hz{};
    std::vector<dvbs2::SurveyedCarrier> carriers{};
    std::vector<double> tones_hz{};  ///< the strongest first
    double live_s = 0;               ///< of a live input, that were looked at; 0: a recording, all of it
};

/// Finds all carriers and listens to each; `listened` gets the number of those that are done.
ScannedBand scan_band(const ReceptionJob& job, const std::function<void(std::size_t, std::size_t)>& listened);

/// A line for each carrier, and how one of them is received. What came off the air stands there as plain
/// text.
std::string scan_text(const ScannedBand& band);

/// The same as one JSON object.
std::string scan_json(const ScannedBand& band);

/// Why a carrier cannot be received.
std::string reason_text(const dvbs2::SurveyedCarrier& carrier);

/// A carrier in the words of `rx`: "--offset +400.1k --symbol-rate 333000".
std::string carrier_options(const dvbs2::SurveyedCarrier& carrier);

}  // namespace tidemill::cli
