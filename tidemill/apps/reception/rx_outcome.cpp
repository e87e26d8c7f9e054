#include "tidemill/apps/reception/rx_outcome.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemill::cli {

double RxOutcome::signal_s() const {
    const double rate_hz = job.recording.sample_rate_hz.value_or(0);
    return rate_hz > 0 ? static_cast<double>(report.samples) / rate_hz : 0;
}

std::uint64_t RxOutcome::all_not_sent() const {
    std::uint64_t sum = 0;
    for (const auto& [stream, packets] : packets_not_sent) sum += packets;
    return sum;
}

std::string RxOutcome::failed_places() const {
    std::string text;
    for (const OutputAccount& each : places)
        if (!each.failure.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", each.failure);
    if (!iq_failure.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", iq_failure);
    return text;
}

bool RxOutcome::received() const {
    const bool bbframes = !outputs.bbframes.empty() && report.totals.frames_good() > 0;
    return report.packets.packets > all_not_sent() || report.generic_frames > 0 || bbframes;
}

bool CarriersOutcome::received() const {
    return std::ranges::any_of(carriers, [](const CarrierOutcome& one) { return one.outcome.received(); });
}

std::string CarriersOutcome::failed_places() const {
    std::vector<std::string> failed;
    for (const CarrierOutcome& one : carriers)
        if (std::string text = one.outcome.failed_places(); !text.empty()) failed.push_back(std::move(text));
    return fmt::format("{}", fmt::join(failed, "\n"));
}

}  // namespace tidemill::cli
