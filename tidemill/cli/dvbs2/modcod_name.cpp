#include "tidemill/cli/dvbs2/modcod_name.hpp"

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"

namespace tidemill::cli {

std::string modcod_name(const dvbs2::Modcod& modcod) {
    return fmt::format("{} {}", name(modcod.modulation), name(modcod.rate));
}

const dvbs2::Modcod& modcod_of(const std::string& text) {
    std::string known;
    for (const dvbs2::Modcod& modcod : dvbs2::all_modcods()) {
        const std::string its_name = modcod_name(modcod);
        if (its_name == text) return modcod;
        known += (known.empty() ? "" : ", ") + its_name;
    }
    throw WrongUsage(fmt::format("--modcod {}: give one of {}", text, known));
}

dvbs2::FrameSize frame_size_of(const std::string& text) {
    return text == "short" ? dvbs2::FrameSize::short_ : dvbs2::FrameSize::normal;
}

}  // namespace tidemill::cli
