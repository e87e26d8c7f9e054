#include "tidemill/fec/ldpc_settings.hpp"

#include <cstddef>

namespace tidemill::fec {
namespace {

// Found by decoding noisy frames at the threshold: lower factors for codes whose bits have many checks.
constexpr double kNormalFactors[] = {0.91, 0.90, 0.85, 0.83, 0.71, 0.76, 0.78, 0.80, 0.80, 0.80, 0.80};
constexpr double kShortFactors[] = {0.91, 0.90, 0.85, 0.83, 0.71, 0.76, 0.80, 0.80, 0.80, 0.80};

}  // namespace

LdpcSettings recommended_ldpc_settings(const Dvbs2Code& code) {
    const auto rate = static_cast<std::size_t>(code.rate);
    LdpcSettings settings;
    settings.factor = code.frame_size == FrameSize::normal ? kNormalFactors[rate] : kShortFactors[rate];
    return settings;
}

double llr_scale(const Dvbs2Code& code) {
    return recommended_ldpc_settings(code).llr_scale;
}

}  // namespace tidemill::fec
