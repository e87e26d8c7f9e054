#include "tidemill/fec/dvbs2_code.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "tidemill/fec/fec_error.hpp"

namespace tidemill::fec {
namespace {

// EN 302 307-1, tables 5a and 5b.
constexpr Dvbs2Code kCodes[] = {
    {FrameSize::normal, CodeRate::r1_4, 64800, 16200, 16008, 12},
    {FrameSize::normal, CodeRate::r1_3, 64800, 21600, 21408, 12},
    {FrameSize::normal, CodeRate::r2_5, 64800, 25920, 25728, 12},
    {FrameSize::normal, CodeRate::r1_2, 64800, 32400, 32208, 12},
    {FrameSize::normal, CodeRate::r3_5, 64800, 38880, 38688, 12},
    {FrameSize::normal, CodeRate::r2_3, 64800, 43200, 43040, 10},
    {FrameSize::normal, CodeRate::r3_4, 64800, 48600, 48408, 12},
    {FrameSize::normal, CodeRate::r4_5, 64800, 51840, 51648, 12},
    {FrameSize::normal, CodeRate::r5_6, 64800, 54000, 53840, 10},
    {FrameSize::normal, CodeRate::r8_9, 64800, 57600, 57472, 8},
    {FrameSize::normal, CodeRate::r9_10, 64800, 58320, 58192, 8},
    {FrameSize::short_, CodeRate::r1_4, 16200, 3240, 3072, 12},
    {FrameSize::short_, CodeRate::r1_3, 16200, 5400, 5232, 12},
    {FrameSize::short_, CodeRate::r2_5, 16200, 6480, 6312, 12},
    {FrameSize::short_, CodeRate::r1_2, 16200, 7200, 7032, 12},
    {FrameSize::short_, CodeRate::r3_5, 16200, 9720, 9552, 12},
    {FrameSize::short_, CodeRate::r2_3, 16200, 10800, 10632, 12},
    {FrameSize::short_, CodeRate::r3_4, 16200, 11880, 11712, 12},
    {FrameSize::short_, CodeRate::r4_5, 16200, 12600, 12432, 12},
    {FrameSize::short_, CodeRate::r5_6, 16200, 13320, 13152, 12},
    {FrameSize::short_, CodeRate::r8_9, 16200, 14400, 14232, 12},
};

constexpr std::array<std::string_view, 11> kRateNames = {"1/4", "1/3", "2/5", "1/2", "3/5", "2/3",
                                                         "3/4", "4/5", "5/6", "8/9", "9/10"};

}  // namespace

std::span<const Dvbs2Code> dvbs2_codes() {
    return kCodes;
}

const Dvbs2Code& dvbs2_code(FrameSize frame_size, CodeRate rate) {
    const auto found = std::ranges::find_if(
        kCodes, [&](const Dvbs2Code& code) { return code.frame_size == frame_size && code.rate == rate; });
    if (found == std::end(kCodes)) {
        throw FecError(
            "dvbs2_code: there is no code of rate 9/10 for short FECFRAMEs: use normal frames or rate 8/9");
    }
    return *found;
}

std::string_view name(FrameSize frame_size) {
    return frame_size == FrameSize::normal ? "normal" : "short";
}

std::string_view name(CodeRate rate) {
    return kRateNames.at(static_cast<std::size_t>(rate));
}

std::optional<CodeRate> code_rate_from_name(std::string_view text) {
    const auto found = std::ranges::find(kRateNames, text);
    if (found == kRateNames.end()) return std::nullopt;
    return static_cast<CodeRate>(found - kRateNames.begin());
}

}  // namespace tidemill::fec
