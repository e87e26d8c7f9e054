#include "tidemill/fec/ldpc_settings.hpp"

#include <cstddef>

namespace tidemill::fec {
namespace {

// Found by decoding noisy frames near the threshold. One step of the LLR is what the decoder takes off the
// smallest magnitude, so the scale sets how strongly it corrects.
constexpr double kScale[] = {3.25, 3.0, 2.75, 2.75, 2.0, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5};

}  // namespace

double llr_scale(const Dvbs2Code& code) {
    return kScale[static_cast<std::size_t>(code.rate)];
}

}  // namespace tidemill::fec
