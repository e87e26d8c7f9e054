#include "tidemill/fec/ldpc_settings.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "tidemill/fec/fec_error.hpp"

namespace tidemill::fec {
namespace {

// By code rate: nearly as many as frames take 0.3 dB over the threshold.
constexpr int kFastIterations[] = {10, 10, 9, 8, 7, 7, 6, 6, 6, 5, 5};

// A few frames in 1000 of the short codes of rates 3/5 and 5/6 lead min-sum so far astray, far above their
// threshold, that sum-product does not bring them back.
constexpr int kFewFastIterations = 3;

bool leads_astray(const Dvbs2Code& code) {
    return code.frame_size == FrameSize::short_ &&
           (code.rate == CodeRate::r3_5 || code.rate == CodeRate::r5_6);
}

int fast_iterations(const Dvbs2Code& code) {
    return leads_astray(code) ? kFewFastIterations : kFastIterations[static_cast<std::size_t>(code.rate)];
}

// By code rate, steps of an LLR to the unit of the natural logarithm. Fewer cost sensitivity by their
// coarseness, which the short 3/5 feels most; more by what saturates, which the short 2/3 and 5/6 do.
constexpr double kScaleNormal[] = {4, 4, 4, 4.5, 5, 5, 5, 5, 5, 5, 5};
constexpr double kScaleShort[] = {4, 4, 4, 4.5, 6, 4, 5, 5, 4, 5, 5};

}  // namespace

int ldpc_fast_share(const LdpcSettings& settings, const Dvbs2Code& code) {
    if (settings.max_iterations < 1) {
        throw FecError(fmt::format("LdpcSettings: max_iterations is {}, it must be at least 1",
                                   settings.max_iterations));
    }
    if (settings.fast_iterations < 0) {
        throw FecError(
            fmt::format("LdpcSettings: fast_iterations is {}, it must be at least 1, or 0 for what serves "
                        "the code best",
                        settings.fast_iterations));
    }
    const int fast = settings.fast_iterations > 0 ? settings.fast_iterations : fast_iterations(code);
    return std::min(fast, settings.max_iterations);
}

double llr_scale(const Dvbs2Code& code) {
    const auto& scale = code.frame_size == FrameSize::short_ ? kScaleShort : kScaleNormal;
    return scale[static_cast<std::size_t>(code.rate)];
}

}  // namespace tidemill::fec
