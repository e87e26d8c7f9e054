#include "tidemill/apps/reception/carrier_choice.hpp"

#include <cmath>

#include <fmt/format.h>

#include "tidemill/apps/reception/band_hearing.hpp"
#include "tidemill/apps/reception/signal_search.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/dvbs2/receiver/band_survey.hpp"
#include "tidemill/machine/side_by_side.hpp"
#include "tidemill/options/option.hpp"

namespace tidemill::cli {

namespace {

using dvbs2::CarrierKind;
using dvbs2::SurveyDepth;
using dvbs2::SurveyedCarrier;

// A hump as wide as most of the band, in which nothing pulses, is the noise that the radio's filter lets
// through.
constexpr double kRadioFilter = 0.55;

// Symbol rates are round, clocks are not.
constexpr double kRoundHz = 1000, kRoundPpm = 50;

// For carriers that only count it is enough to know whether they do: noise is as wide as the band.
std::vector<SurveyedCarrier> hear_one(std::size_t number, const dvbs2::OpenSamples& open,
                                      double sample_rate_hz, const std::vector<dvbs2::FoundCarrier>& found) {
    std::vector<SurveyedCarrier> heard;
    std::size_t counted = 0;
    for (const dvbs2::FoundCarrier& one : found) {
        const bool may_be_noise = one.symbol_rate_hz > kRadioFilter * sample_rate_hz;
        SurveyedCarrier carrier{.seen = one, .kind = CarrierKind::other};
        if (may_be_noise || counted + 1 == number) carrier = dvbs2::survey(open, one, SurveyDepth::frames);
        counted += is_noise_of_radio(carrier, sample_rate_hz) ? 0 : 1;
        heard.push_back(carrier);
    }
    return heard;
}

std::vector<SurveyedCarrier> hear_wanted(const CarrierSelection& wanted, const ReceptionJob& job) {
    // Stretches and changes of the band add carriers, which changes the numbers.
    if (!wanted.only || steady_parts(job).size() > 1) return hear_band(job, SurveyDepth::frames).carriers;
    const auto open = [&] { return open_preview(job); };
    const dvbs2::FoundBand found = dvbs2::find_carriers(*open());
    if (found.stretches.empty())
        return hear_one(*wanted.only, open, job.recording.sample_rate_hz.value(), found.carriers);
    return dvbs2::survey_band(open, found, SurveyDepth::frames, cores_to_use(), [](auto) {});
}

void check_found(const CarrierSelection& wanted, const std::vector<NumberedCarrier>& chosen,
                 std::size_t all) {
    constexpr const char* kLook = "look with tidemill dvbs2 scan";
    if (!wanted.only && chosen.empty())
        throw NoSignalFound(fmt::format("none of {} carriers is of DVB-S2: {}", all, kLook));
    if (!wanted.only) return;
    if (chosen.empty())
        throw NoSignalFound(fmt::format("--carrier {}: {} there: {}", *wanted.only,
                                        all == 1 ? "1 carrier is" : fmt::format("{} carriers are", all),
                                        kLook));
    if (!is_receivable(chosen.front().heard))
        throw NoSignalFound(fmt::format("--carrier {} is not of DVB-S2: {}", *wanted.only, kLook));
}

}  // namespace

CarrierSelection parse_carrier(const std::string& text) {
    if (text == "all") return {};
    const auto number = io::whole_number<std::size_t>(text);
    if (!number || *number == 0)
        throw WrongUsage(fmt::format(
            "--carrier {}: give the number of a carrier, as tidemill dvbs2 scan lists them, or all", text));
    return {number};
}

CarrierCall call_of(const SurveyedCarrier& carrier) {
    double rate = carrier.symbol_rate_hz;
    const double round = std::round(rate / kRoundHz) * kRoundHz;
    rate = std::abs(rate / round - 1) < kRoundPpm * 1e-6 ? round : std::round(rate);
    return {std::round(carrier.offset_hz / 100) * 100 + 0.0, rate, carrier.rolloff};
}

bool is_noise_of_radio(const SurveyedCarrier& carrier, double sample_rate_hz) {
    return carrier.kind == CarrierKind::no_symbols &&
           carrier.seen.symbol_rate_hz > kRadioFilter * sample_rate_hz;
}

bool is_receivable(const SurveyedCarrier& carrier) {
    return carrier.kind == CarrierKind::dvbs2 || carrier.kind == CarrierKind::dvbs2_idle ||
           carrier.kind == CarrierKind::dvbs2_weak;
}

std::vector<NumberedCarrier> choose_carriers(const CarrierSelection& wanted, const ReceptionJob& job) {
    const double sample_rate_hz = job.recording.sample_rate_hz.value();
    const auto heard = hear_wanted(wanted, job);
    std::vector<NumberedCarrier> chosen;
    std::size_t number = 0;
    for (const SurveyedCarrier& carrier : heard) {
        if (is_noise_of_radio(carrier, sample_rate_hz)) continue;
        ++number;
        if (wanted.only ? *wanted.only == number : is_receivable(carrier))
            chosen.push_back({number, carrier});
    }
    check_found(wanted, chosen, number);
    return chosen;
}

}  // namespace tidemill::cli
