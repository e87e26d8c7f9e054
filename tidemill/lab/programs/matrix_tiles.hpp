#pragma once

#include <vector>

#include "tidemill/lab/programs/tile_run.hpp"

namespace tidemill {

/// Square tiles of numbers, row by row, of the matrices that a factorisation works on. Each begins with the
/// same made-up numbers, with a heavy diagonal, so that no pivoting is needed.
class MatrixTiles : public Tiles {
  public:
    /// `there` says which tiles of the matrix are not zero.
    MatrixTiles(std::uint64_t blocks, std::uint64_t size,
                bool (*there)(std::uint64_t row, std::uint64_t column));

    std::span<std::byte> at(const Tile& tile) override;
    std::uint64_t digest() const override;

    /// How far the product of the factors is from the matrix: the largest difference of two numbers, beside
    /// the largest number.
    virtual double residual() const = 0;

  protected:
    bool on_diagonal(std::span<const std::byte> tile) const;
    const double* tile(std::uint64_t plane, std::uint64_t row, std::uint64_t column) const;

    std::uint64_t blocks_;
    std::uint64_t size_;
    std::vector<double> numbers_;
    double largest_ = 0;
};

/// The tiles of tiled_matrix::add_cholesky(): the lower triangle of a symmetric matrix becomes its factor.
class CholeskyTiles final : public MatrixTiles {
  public:
    CholeskyTiles(std::uint64_t blocks, std::uint64_t size);

    void run(policy::TaskTypeId type, std::span<std::byte> written,
             std::span<const std::span<std::byte>> read) const override;
    double residual() const override;

  private:
    std::vector<double> original_;
};

/// The tiles of tiled_matrix::add_check_lu(): the matrix becomes its factors L, with ones on the diagonal,
/// and U; their product is compared with a copy.
class LuTiles final : public MatrixTiles {
  public:
    LuTiles(std::uint64_t blocks, std::uint64_t size);

    void run(policy::TaskTypeId type, std::span<std::byte> written,
             std::span<const std::span<std::byte>> read) const override;
    double residual() const override;
};

}  // namespace tidemill
