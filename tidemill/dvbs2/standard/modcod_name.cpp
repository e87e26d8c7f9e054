#include "tidemill/dvbs2/standard/modcod_name.hpp"

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"

namespace tidemill::cli {

namespace {

// Part of a name that counts: "qpsk8/9" of "QPSK-8/9".
std::string bare(const std::string& text) {
    std::string letters;
    for (const char c : text) {
        if (c != ' ' && c != '-' && c != '_') letters += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    return letters;
}

}  // namespace

std::string modcod_name(const dvbs2::Modcod& modcod) {
    return fmt::format("{} {}", name(modcod.modulation), name(modcod.rate));
}

const dvbs2::Modcod& modcod_of(const std::string& text) {
    const std::string wanted = bare(text);
    std::string known;
    for (const dvbs2::Modcod& modcod : dvbs2::all_modcods()) {
        const std::string its_name = modcod_name(modcod);
        if (wanted == bare(its_name) || text == std::to_string(modcod.number)) return modcod;
        known += (known.empty() ? "" : ", ") + its_name;
    }
    throw WrongUsage(fmt::format("--modcod {}: give a number from 1 to 28 or one of {}", text, known));
}

int modcod_number_of(const std::string& text) {
    return modcod_of(text).number;
}

std::vector<std::pair<std::string, dvbs2::FrameSize>> frame_size_words() {
    return {{"normal", dvbs2::FrameSize::normal}, {"short", dvbs2::FrameSize::short_}};
}

}  // namespace tidemill::cli
