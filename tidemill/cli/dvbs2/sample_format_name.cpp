#include "tidemill/cli/dvbs2/sample_format_name.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/standard_streams.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/quantize.hpp"
#include "tidemill/io/recording_writer.hpp"

namespace tidemill::cli {

namespace {

const std::map<std::string, dsp::SampleFormat>& formats() {
    using enum dsp::SampleFormat;
    static const std::map<std::string, dsp::SampleFormat> all{
        {"cf32", cf32}, {"cf64", cf64},       {"ci16", ci16},       {"ci8", ci8},
        {"cu8", cu8},   {"cf32_be", cf32_be}, {"cf64_be", cf64_be}, {"ci16_be", ci16_be}};
    return all;
}

}  // namespace

std::string name_of(dsp::SampleFormat format) {
    return std::ranges::find(formats(), format, [](const auto& entry) { return entry.second; })->first;
}

dsp::SampleFormat sample_format_of(const std::string& name) {
    const auto found = formats().find(name);
    if (found == formats().end()) {
        throw WrongUsage(fmt::format(
            "--format {}: give cf32, cf64, ci16, ci8 or cu8, or cf32_be, cf64_be, ci16_be for big endian",
            name));
    }
    return found->second;
}

dsp::SampleFormat stored_format(const std::string& output, std::optional<dsp::SampleFormat> wanted) {
    try {
        return io::stored_as(output, wanted).format;
    } catch (const io::IoError& error) {
        throw WrongUsage(fmt::format("--output {}: {}", output, error.what()));
    }
}

void warn_of_rounding(double level_dbfs, dsp::SampleFormat format) {
    constexpr double kEnough_db = 20;
    const double snr_db = io::rounding_snr_db(std::pow(10.0, level_dbfs / 20.0), format);
    if (snr_db > kEnough_db) return;
    warn(fmt::format(
        "--level {:.4g} in {}: rounding to whole steps adds noise of {:+.0f} dB over the signal{}; give a "
        "higher --level, or a --format of more bits",
        level_dbfs, name_of(format), -snr_db, snr_db < 0 ? ", and makes most samples zero" : ""));
}

void add_stored_format(Verb& verb, std::optional<dsp::SampleFormat>& format) {
    verb.parsed("--format", format, sample_format_of, "cf32, cf64, ci16, ci8 or cu8, with _be for big endian")
        .shows("by the output's extension, else ci8");
}

}  // namespace tidemill::cli
