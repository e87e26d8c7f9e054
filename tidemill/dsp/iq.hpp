#pragma once

#include <complex>

namespace tidemill::dsp {

/// One complex sample, full scale 1.0.
using Iq = std::complex<float>;

}  // namespace tidemill::dsp
