#include "tidemill/cli/sample_format_name.hpp"

#include <map>

#include <fmt/format.h>

#include "tidemill/cli/command.hpp"

namespace tidemill::cli {

dsp::SampleFormat sample_format_of(const std::string& name) {
    static const std::map<std::string, dsp::SampleFormat> formats{{"cf32", dsp::SampleFormat::cf32},
                                                                  {"ci16", dsp::SampleFormat::ci16},
                                                                  {"ci8", dsp::SampleFormat::ci8},
                                                                  {"cu8", dsp::SampleFormat::cu8}};
    const auto found = formats.find(name);
    if (found == formats.end()) {
        throw WrongUsage(fmt::format("--format {}: give cf32, ci16, ci8 or cu8", name));
    }
    return found->second;
}

}  // namespace tidemill::cli
