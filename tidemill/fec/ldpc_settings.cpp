#include "tidemill/fec/ldpc_settings.hpp"

#include <cstddef>

namespace tidemill::fec {
namespace {

// By code rate. One step of the LLR is what the decoder takes off the smallest magnitude, so the scale sets
// how strongly it corrects. Found by decoding QPSK over white noise near EN 302 307-1, table 13: half a step
// down or up costs iterations or stability, 3/5 above 2.5 and 1/4 below 2.5 first.
constexpr double kScale[] = {3.25, 3.0, 2.75, 2.75, 2.0, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5};

}  // namespace

double llr_scale(const Dvbs2Code& code) {
    return kScale[static_cast<std::size_t>(code.rate)];
}

}  // namespace tidemill::fec
