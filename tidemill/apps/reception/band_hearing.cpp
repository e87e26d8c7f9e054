#include "tidemill/apps/reception/band_hearing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tidemill/dvbs2/receiver/band_survey.hpp"
#include "tidemill/machine/side_by_side.hpp"

namespace tidemill::cli {

namespace {

using dvbs2::SurveyedCarrier;

// Beyond so many parts a band changes all the time, and another look would find nothing new.
constexpr std::size_t kMostParts = 12;

bool overlap(const SurveyedCarrier& one, const SurveyedCarrier& other) {
    return one.seen.covers(other.seen.offset_hz) || other.seen.covers(one.seen.offset_hz);
}

// Found in another part at the same place with the same symbol rate.
bool is_same(const SurveyedCarrier& one, const SurveyedCarrier& other) {
    constexpr double kSameRate = 0.001, kSamePlace = 0.05;
    return std::abs(one.symbol_rate_hz / other.symbol_rate_hz - 1) < kSameRate &&
           std::abs(one.offset_hz - other.offset_hz) < kSamePlace * one.symbol_rate_hz;
}

// A carrier that is known takes the place of those unknown that overlap it.
void add_heard(const SurveyedCarrier& found, std::vector<SurveyedCarrier>& all) {
    const bool is_known = dvbs2::is_known(found.kind);
    const bool adds_nothing = std::ranges::any_of(all, [&](const SurveyedCarrier& other) {
        return overlap(found, other) && (!is_known || (dvbs2::is_known(other.kind) && is_same(found, other)));
    });
    if (adds_nothing) return;
    std::erase_if(all, [&](const SurveyedCarrier& other) {
        return !dvbs2::is_known(other.kind) && overlap(found, other);
    });
    all.push_back(found);
}

}  // namespace

HeardBand hear_part(const ReceptionJob& job, const std::optional<RecordingPart>& part,
                    dvbs2::SurveyDepth depth, const std::function<void(std::size_t, std::size_t)>& listened) {
    const auto open = [&] { return open_preview(job, part); };
    const dvbs2::FoundBand found = dvbs2::find_carriers(*open());
    const auto told = [&](std::size_t done) {
        if (listened) listened(done, found.carriers.size());
    };
    return {dvbs2::survey_band(open, found, depth, cores_to_use(), told), found.tones_hz};
}

HeardBand hear_band(const ReceptionJob& job, dvbs2::SurveyDepth depth,
                    const std::function<void(std::size_t, std::size_t)>& listened) {
    HeardBand all = hear_part(job, {}, depth, listened);
    std::vector<RecordingPart> parts = steady_parts(job);
    if (parts.size() == 1) return all;
    // The mean of different parts may show carriers that are in none of them.
    if (parts.size() <= kMostParts)
        std::erase_if(all.carriers, [](const SurveyedCarrier& one) { return !dvbs2::is_known(one.kind); });
    parts.resize(std::min(parts.size(), kMostParts));
    for (const RecordingPart& part : parts) {
        if (gives_up(job)) break;
        for (const SurveyedCarrier& found : hear_part(job, part, depth, listened).carriers)
            add_heard(found, all.carriers);
    }
    std::ranges::sort(all.carriers, {}, [](const SurveyedCarrier& one) { return one.seen.offset_hz; });
    return all;
}

}  // namespace tidemill::cli
