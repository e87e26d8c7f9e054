#include "tidemill/lab/programs/matrix_tiles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tidemill/lab/sim/task_graphs.hpp"

namespace tidemill {

namespace {

double* numbers_of(std::span<std::byte> tile) {
    return reinterpret_cast<double*>(tile.data());
}

// c -= a * b, or a * transposed b.
template <bool kTransposed>
void subtract_product(const double* a, const double* b, double* c, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        for (std::uint64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::uint64_t k = 0; k < n; ++k)
                sum += a[i * n + k] * (kTransposed ? b[j * n + k] : b[k * n + j]);
            c[i * n + j] -= sum;
        }
    }
}

// The lower triangle becomes its Cholesky factor, the upper one zero.
void factorise_symmetric(double* a, std::uint64_t n) {
    for (std::uint64_t j = 0; j < n; ++j) {
        for (std::uint64_t i = j; i < n; ++i) {
            double sum = a[i * n + j];
            for (std::uint64_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
            if (i > j) a[j * n + i] = 0;
        }
    }
}

// a = a * inverse of the transposed lower triangle.
void divide_by_transposed(const double* lower, double* a, std::uint64_t n) {
    for (std::uint64_t row = 0; row < n; ++row) {
        for (std::uint64_t j = 0; j < n; ++j) {
            double sum = a[row * n + j];
            for (std::uint64_t k = 0; k < j; ++k) sum -= a[row * n + k] * lower[j * n + k];
            a[row * n + j] = sum / lower[j * n + j];
        }
    }
}

// L, without its ones, and U in one.
void factorise(double* a, std::uint64_t n) {
    for (std::uint64_t k = 0; k < n; ++k) {
        for (std::uint64_t i = k + 1; i < n; ++i) {
            const double factor = a[i * n + k] /= a[k * n + k];
            for (std::uint64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
        }
    }
}

// a = inverse of L * a
void solve_lower(const double* lu, double* a, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        for (std::uint64_t k = 0; k < i; ++k) {
            for (std::uint64_t j = 0; j < n; ++j) a[i * n + j] -= lu[i * n + k] * a[k * n + j];
        }
    }
}

// a = a * inverse of U
void divide_by_upper(const double* lu, double* a, std::uint64_t n) {
    for (std::uint64_t row = 0; row < n; ++row) {
        for (std::uint64_t j = 0; j < n; ++j) {
            double sum = a[row * n + j];
            for (std::uint64_t k = 0; k < j; ++k) sum -= a[row * n + k] * lu[k * n + j];
            a[row * n + j] = sum / lu[j * n + j];
        }
    }
}

// c += L part of a * U part of b: the triangles that a tile of the diagonal holds, whole tiles elsewhere.
void add_factors(const double* a, bool a_is_lower, const double* b, bool b_is_upper, double* c,
                 std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        for (std::uint64_t j = 0; j < n; ++j) {
            double sum = 0;
            const std::uint64_t end = std::min(a_is_lower ? i + 1 : n, b_is_upper ? j + 1 : n);
            for (std::uint64_t k = 0; k < end; ++k) {
                sum += (a_is_lower && k == i ? 1 : a[i * n + k]) * b[k * n + j];
            }
            c[i * n + j] += sum;
        }
    }
}

}  // namespace

MatrixTiles::MatrixTiles(std::uint64_t blocks, std::uint64_t size,
                         bool (*there)(std::uint64_t row, std::uint64_t column))
    : blocks_(blocks), size_(size), numbers_(tiled_matrix::kPlanes * blocks * blocks * size * size) {
    const std::uint64_t all = blocks * size;
    for (std::uint64_t row = 0; row < all; ++row) {
        for (std::uint64_t column = 0; column < all; ++column) {
            if (!there(row / size, column / size)) continue;
            // symmetric, within -1 and 1
            const std::uint64_t bits = mixed(std::min(row, column), std::max(row, column));
            const double value = static_cast<double>(bits >> 11) * 0x1p-52 - 1;
            double* to = numbers_of(at({tiled_matrix::kA, row / size, column / size}));
            to[row % size * size + column % size] = row == column ? static_cast<double>(all) + value : value;
        }
    }
    largest_ = static_cast<double>(all) + 1;
}

const double* MatrixTiles::tile(std::uint64_t plane, std::uint64_t row, std::uint64_t column) const {
    return &numbers_[((plane * blocks_ + row) * blocks_ + column) * size_ * size_];
}

bool MatrixTiles::on_diagonal(std::span<const std::byte> its) const {
    const auto bytes = static_cast<std::uint64_t>(its.data() - std::as_bytes(std::span(numbers_)).data());
    const std::uint64_t index = bytes / its.size() % (blocks_ * blocks_);
    return index / blocks_ == index % blocks_;
}

std::span<std::byte> MatrixTiles::at(const Tile& wanted) {
    const std::uint64_t count = size_ * size_;
    double* first = &numbers_[((wanted.plane * blocks_ + wanted.row) * blocks_ + wanted.column) * count];
    return std::as_writable_bytes(std::span(first, count));
}

std::uint64_t MatrixTiles::digest() const {
    std::uint64_t sum = 0;
    for (const double number : numbers_) sum = mixed(sum, std::bit_cast<std::uint64_t>(number));
    return sum;
}

CholeskyTiles::CholeskyTiles(std::uint64_t blocks, std::uint64_t size)
    : MatrixTiles(blocks, size, [](std::uint64_t, std::uint64_t) { return true; }), original_(numbers_) {}

void CholeskyTiles::run(policy::TaskTypeId type, std::span<std::byte> written,
                        std::span<const std::span<std::byte>> read) const {
    using namespace tiled_matrix;
    double* to = numbers_of(written);
    switch (type) {
        case kPotrf:
            return factorise_symmetric(to, size_);
        case kTrsm:
            return divide_by_transposed(numbers_of(read[0]), to, size_);
        case kSyrk:
            return subtract_product<true>(numbers_of(read[0]), numbers_of(read[0]), to, size_);
        case kGemm:
            return subtract_product<true>(numbers_of(read[0]), numbers_of(read[1]), to, size_);
    }
}

// Error of the lower triangle of tiles: L times its transpose, beside what was there.
double CholeskyTiles::residual() const {
    std::vector<double> rest(size_ * size_);
    double most = 0;
    for (std::uint64_t i = 0; i < blocks_; ++i) {
        for (std::uint64_t j = 0; j <= i; ++j) {
            const auto first = original_.begin() + (tile(tiled_matrix::kA, i, j) - numbers_.data());
            std::copy_n(first, rest.size(), rest.begin());
            for (std::uint64_t k = 0; k <= j; ++k) {
                subtract_product<true>(tile(tiled_matrix::kA, i, k), tile(tiled_matrix::kA, j, k),
                                       rest.data(), size_);
            }
            for (const double number : rest) most = std::max(most, std::abs(number));
        }
    }
    return most / largest_;
}

LuTiles::LuTiles(std::uint64_t blocks, std::uint64_t size)
    : MatrixTiles(blocks, size, tiled_matrix::is_there_at_first) {}

void LuTiles::run(policy::TaskTypeId type, std::span<std::byte> written,
                  std::span<const std::span<std::byte>> read) const {
    using namespace tiled_matrix;
    double* to = numbers_of(written);
    switch (type) {
        case kCopyTile:
            std::copy_n(numbers_of(read[0]), size_ * size_, to);
            return;
        case kLu:
            return factorise(to, size_);
        case kForward:
            return solve_lower(numbers_of(read[0]), to, size_);
        case kDivide:
            return divide_by_upper(numbers_of(read[0]), to, size_);
        case kUpdate:
            return subtract_product<false>(numbers_of(read[0]), numbers_of(read[1]), to, size_);
        case kMultiply:
            return add_factors(numbers_of(read[0]), on_diagonal(read[0]), numbers_of(read[1]),
                               on_diagonal(read[1]), to, size_);
        case kCompare:
            for (std::uint64_t i = 0; i < size_ * size_; ++i) {
                to[i] = numbers_of(read[0])[i] - numbers_of(read[1])[i];
            }
            return;
    }
}

double LuTiles::residual() const {
    double most = 0;
    for (std::uint64_t i = 0; i < blocks_ * blocks_ * size_ * size_; ++i) {
        most = std::max(most, std::abs(tile(tiled_matrix::kVerdict, 0, 0)[i]));
    }
    return most / largest_;
}

}  // namespace tidemill
