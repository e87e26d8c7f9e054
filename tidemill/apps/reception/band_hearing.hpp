#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tidemill/apps/reception/reception.hpp"
#include "tidemill/dvbs2/receiver/carrier_survey.hpp"

namespace tidemill::cli {

/// The carriers of a band after each was listened to, and the plain tones outside them.
struct HeardBand {
    std::vector<dvbs2::SurveyedCarrier> carriers{};  ///< from the lowest offset to the highest
    std::vector<double> tones_hz{};                  ///< the strongest first
};

/// Finds the carriers from the first sample on and, where the band changes, in each part between two changes,
/// and listens to each where it was found. `listened` is called with how many of how many are done.
HeardBand hear_band(const ReceptionJob& job, dvbs2::SurveyDepth depth,
                    const std::function<void(std::size_t, std::size_t)>& listened = {});

/// The same of one part; none: from the first sample on.
HeardBand hear_part(const ReceptionJob& job, const std::optional<RecordingPart>& part,
                    dvbs2::SurveyDepth depth,
                    const std::function<void(std::size_t, std::size_t)>& listened = {});

}  // namespace tidemill::cli
