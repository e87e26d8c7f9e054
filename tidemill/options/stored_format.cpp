#include "tidemill/options/stored_format.hpp"

#include <cmath>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/quantize.hpp"
#include "tidemill/io/recordings/recording_writer.hpp"
#include "tidemill/io/recordings/sample_format_name.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

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
