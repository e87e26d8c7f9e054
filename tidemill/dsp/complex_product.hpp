#pragma once

#include <complex>

namespace tidemill::dsp {

/// x y, without the standard's care for what is no number.
inline std::complex<double> product(std::complex<double> x, std::complex<double> y) {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

}  // namespace tidemill::dsp
