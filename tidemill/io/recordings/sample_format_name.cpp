#include "tidemill/io/recordings/sample_format_name.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"

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

}  // namespace tidemill::cli
