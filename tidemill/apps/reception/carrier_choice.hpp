#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/dvbs2/receiver/carrier_survey.hpp"

namespace tidemill::cli {

struct ReceptionJob;

/// Carriers of a band to be received, by their numbers in a scan.
struct CarrierSelection {
    std::optional<std::size_t> only{};  ///< none: all of DVB-S2
};

/// Reads what --carrier names: a number, or all. Throws WrongUsage.
CarrierSelection parse_carrier(const std::string& text);

/// A carrier by its number in a scan.
struct NumberedCarrier {
    std::size_t number = 0;
    dvbs2::SurveyedCarrier heard{};
};

/// How a carrier is named to a receiver: rounded as people write it.
struct CarrierCall {
    double offset_hz = 0;
    double symbol_rate_hz = 0;
    double rolloff = 0.20;
};
CarrierCall call_of(const dvbs2::SurveyedCarrier& carrier);

/// Whether what looks like a carrier is the noise that a radio's own filter lets through.
bool is_noise_of_radio(const dvbs2::SurveyedCarrier& carrier, double sample_rate_hz);

/// Whether it is one of DVB-S2.
bool is_receivable(const dvbs2::SurveyedCarrier& carrier);

/// The wanted carriers of a band, each listened to for as long as it takes to know what it is. Throws
/// NoSignalFound where one is not there or none can be received.
std::vector<NumberedCarrier> choose_carriers(const CarrierSelection& wanted, const ReceptionJob& job);

}  // namespace tidemill::cli
