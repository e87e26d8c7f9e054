#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "tidemill/dvbs2/receiver/carrier_survey.hpp"

namespace tidemill::dvbs2 {

/// Listens to all carriers of a band as survey() does, several at a time. Narrow ones are taken out of the
/// band first, in one pass, for each of them takes long to hear and little to hold. `open` is called by any
/// of the threads; `listened` by one at a time, with how many carriers are done.
std::vector<SurveyedCarrier> survey_all(const OpenSamples& open, std::span<const FoundCarrier> carriers,
                                        SurveyDepth depth, std::size_t threads,
                                        const std::function<void(std::size_t)>& listened);

/// The same for all that a band shows: stretches are listened to in which no carrier turned out to be a known
/// one, and where one is a carrier it takes the place of those. From the lowest offset to the highest.
std::vector<SurveyedCarrier> survey_band(const OpenSamples& open, const FoundBand& band, SurveyDepth depth,
                                         std::size_t threads,
                                         const std::function<void(std::size_t)>& listened);

}  // namespace tidemill::dvbs2
