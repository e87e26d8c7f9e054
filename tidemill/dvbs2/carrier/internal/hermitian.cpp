#include "tidemill/dvbs2/carrier/internal/hermitian.hpp"

#include <cassert>
#include <cmath>

#include "tidemill/dsp/complex_product.hpp"

namespace tidemill::dvbs2::internal {

namespace {

using Complex = std::complex<double>;

// x y*, without the standard's care for values that are no numbers.
Complex by_conjugate(Complex x, Complex y) {
    return {x.real() * y.real() + x.imag() * y.imag(), x.imag() * y.real() - x.real() * y.imag()};
}

// A = L L^H, by Cholesky; L takes A's place.
bool factor(std::span<Complex> a, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            Complex sum = a[i * n + j];
            for (std::size_t k = 0; k < j; ++k) sum -= by_conjugate(a[i * n + k], a[j * n + k]);
            if (i > j) {
                a[i * n + j] = sum / a[j * n + j].real();
                continue;
            }
            if (!(sum.real() > 0)) return false;
            a[i * n + i] = std::sqrt(sum.real());
        }
    }
    return true;
}

}  // namespace

bool solve_hermitian(std::span<Complex> a, std::span<Complex> b) {
    const std::size_t n = b.size();
    assert(a.size() == n * n);
    if (!factor(a, n)) return false;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) b[i] -= dsp::product(a[i * n + k], b[k]);
        b[i] /= a[i * n + i].real();
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) b[i] -= by_conjugate(b[k], a[k * n + i]);
        b[i] /= a[i * n + i].real();
    }
    return true;
}

}  // namespace tidemill::dvbs2::internal
