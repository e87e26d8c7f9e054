#pragma once

#include <complex>

namespace tidemill::dsp {

/// x y, without the standard's care for values that are no numbers.
inline std::complex<double> product(std::complex<double> x, std::complex<double> y) {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// exp(-j radians). Of the polar number of a negated angle GCC calls sine and cosine one by one.
inline std::complex<double> back_turn(double radians) {
    return std::conj(std::polar(1.0, radians));
}

}  // namespace tidemill::dsp
