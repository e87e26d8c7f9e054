#include "tidemill/c/formats.hpp"

#include <array>
#include <string>

#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::c {

std::optional<dsp::SampleFormat> format_of(tidemill_format format) {
    using enum dsp::SampleFormat;
    constexpr std::array kFormats{cf32, ci16, ci8, cu8, cf64};
    const auto index = static_cast<std::size_t>(format);
    return index < kFormats.size() ? std::optional(kFormats.at(index)) : std::nullopt;
}

namespace {

std::array<std::string, 28> all_names() {
    std::array<std::string, 28> names;
    for (const dvbs2::Modcod& modcod : dvbs2::all_modcods())
        names.at(static_cast<std::size_t>(modcod.number) - 1) =
            std::string(name(modcod.modulation)) + " " + std::string(name(modcod.rate));
    return names;
}

}  // namespace

}  // namespace tidemill::c

const char* tidemill_modcod_name(int number) {
    static const std::array<std::string, 28> kNames = tidemill::c::all_names();
    return number >= 1 && number <= 28 ? kNames.at(static_cast<std::size_t>(number) - 1).c_str() : nullptr;
}

size_t tidemill_sample_bytes(tidemill_format format) {
    const auto known = tidemill::c::format_of(format);
    return known ? tidemill::dsp::bytes_per_sample(*known) : 0;
}
