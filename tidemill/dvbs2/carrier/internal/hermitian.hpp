#pragma once

#include <complex>
#include <span>

namespace tidemill::dvbs2::internal {

/// Solves A x = b for a Hermitian, positive definite A of b.size() rows, one behind the other, of which the
/// part below the diagonal is read; b becomes x, A what it is of no use for any more. False, with b
/// meaningless, where A is not positive definite.
bool solve_hermitian(std::span<std::complex<double>> a, std::span<std::complex<double>> b);

}  // namespace tidemill::dvbs2::internal
