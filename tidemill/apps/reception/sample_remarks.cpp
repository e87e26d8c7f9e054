#include "tidemill/apps/reception/sample_remarks.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "tidemill/apps/reception/level_fault.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dsp/sample_levels.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"

namespace tidemill::cli {

namespace {

constexpr double kMuchClipped = 0.01;
constexpr double kMost = 0.5;

double share_of(std::uint64_t some, std::uint64_t all) {
    // Some are looked at twice, where blocks overlap.
    return all > 0 ? std::min(1.0, static_cast<double>(some) / static_cast<double>(all)) : 0;
}

std::string percent(double share) {
    return fmt::format("{:.3g} %", 100 * share);
}

// The one value that all of the first samples have.
std::optional<dsp::Iq> only_value(const io::Recording& recording) {
    constexpr std::size_t kSamples = 1 << 20;
    const std::size_t size = dsp::bytes_per_sample(recording.format);
    std::vector<std::byte> bytes(kSamples * size);
    io::RecordingReader reader(recording);
    const std::size_t got = reader.read(bytes) / size;
    if (got == 0) return {};
    std::vector<dsp::Iq> samples(got);
    dsp::convert_samples(recording.format, std::span(bytes).first(got * size), samples);
    const bool same = std::ranges::all_of(samples, [&](dsp::Iq one) { return one == samples.front(); });
    return same ? std::optional(samples.front()) : std::nullopt;
}

std::string one_value_text(const io::Recording& recording) {
    const auto value = only_value(recording);
    if (!value) return {};
    if (*value == dsp::Iq{}) return "all samples are 0";
    return fmt::format("all samples have one value, {:.3g} and {:.3g} of full scale", value->real(),
                       value->imag());
}

// Remarks of a look at the recording itself.
template <class Look>
std::string seen_in(const RxOutcome& outcome, Look look) {
    if (outcome.job.stream) return {};
    try {
        return look(outcome.job.recording);
    } catch (const io::IoError&) {  // gone since it was received
        return {};
    }
}

}  // namespace

std::vector<std::string> sample_remarks(const RxOutcome& outcome) {
    const dvbs2::ReceptionReport& report = outcome.report;
    std::vector<std::string> remarks;
    if (report.samples_not_finite > 0)
        remarks.push_back(fmt::format(
            "{} of the samples are no numbers, or beyond {:.0e}: is that their format (--format)?",
            percent(share_of(report.samples_not_finite, report.samples)), dsp::kLargestSample));
    if (const double share = share_of(report.samples_clipped, report.samples); share > kMuchClipped)
        remarks.push_back(fmt::format(
            "{} of the samples are at the ends of their range: record with less gain", percent(share)));
    return remarks;
}

std::string why_no_signal(const RxOutcome& outcome) {
    if (std::string fault = seen_in(outcome, level_fault); !fault.empty()) return fault;
    const dvbs2::ReceptionReport& report = outcome.report;
    const bool broken = share_of(report.samples_not_finite, report.samples) > kMost ||
                        share_of(report.samples_clipped, report.samples) > kMost;
    if (broken) return sample_remarks(outcome).front();
    return seen_in(outcome, one_value_text);
}

}  // namespace tidemill::cli
