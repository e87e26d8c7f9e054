#include "tidemill/lab/sim/task_graphs.hpp"

#include <algorithm>

#include "tidemill/lab/sim/internal/tile_program.hpp"

namespace tidemill {

namespace {

using internal::TileProgram;

// Tasks on square tiles of numbers, their times from counts of floating-point operations.
class MatrixTasks {
  public:
    MatrixTasks(TileTasks& tasks, std::uint64_t size) : tasks_(tasks), size_(size) {}

    // `cubes` are operations per size^3.
    void add(policy::TaskTypeId type, double cubes, const Tile& written, const std::vector<Tile>& read) {
        const auto n = static_cast<double>(size_);
        tasks_.add(type, cubes * n * n * n * kUsPerOperation, size_ * size_ * sizeof(double), written, read);
    }

    // Something that touches every number once.
    void add_pass(policy::TaskTypeId type, const Tile& written, const std::vector<Tile>& read) {
        add(type, 1.0 / static_cast<double>(size_), written, read);
    }

  private:
    static constexpr double kUsPerOperation = 1e-3;

    TileTasks& tasks_;
    std::uint64_t size_;
};

// Tiles of a matrix that are not zero; the factorisation fills some in.
class Pattern {
  public:
    explicit Pattern(std::uint64_t blocks) : blocks_(blocks), there_(blocks * blocks) {
        for (std::uint64_t row = 0; row < blocks; ++row) {
            for (std::uint64_t column = 0; column < blocks; ++column) {
                there_[row * blocks_ + column] = tiled_matrix::is_there_at_first(row, column);
            }
        }
    }
    bool has(std::uint64_t row, std::uint64_t column) const { return there_[row * blocks_ + column]; }
    void fill(std::uint64_t row, std::uint64_t column) { there_[row * blocks_ + column] = true; }

  private:
    std::uint64_t blocks_;
    std::vector<bool> there_;
};

}  // namespace

namespace tiled_matrix {

namespace {

Tile a(std::uint64_t row, std::uint64_t column) {
    return {kA, row, column};
}

void factorise(MatrixTasks& tasks, Pattern& pattern, std::uint64_t blocks) {
    for (std::uint64_t k = 0; k < blocks; ++k) {
        tasks.add(kLu, 2.0 / 3, a(k, k), {a(k, k)});
        for (std::uint64_t j = k + 1; j < blocks; ++j) {
            if (pattern.has(k, j)) tasks.add(kForward, 1, a(k, j), {a(k, k), a(k, j)});
        }
        for (std::uint64_t i = k + 1; i < blocks; ++i) {
            if (pattern.has(i, k)) tasks.add(kDivide, 1, a(i, k), {a(k, k), a(i, k)});
        }
        for (std::uint64_t i = k + 1; i < blocks; ++i) {
            for (std::uint64_t j = k + 1; j < blocks; ++j) {
                if (!pattern.has(i, k) || !pattern.has(k, j)) continue;
                tasks.add(kUpdate, 2, a(i, j), {a(i, k), a(k, j), a(i, j)});
                pattern.fill(i, j);
            }
        }
    }
}

void check_product(MatrixTasks& tasks, const Pattern& pattern, std::uint64_t blocks) {
    for (std::uint64_t i = 0; i < blocks; ++i) {
        for (std::uint64_t j = 0; j < blocks; ++j) {
            const Tile product{kProduct, i, j};
            for (std::uint64_t k = 0; k <= std::min(i, j); ++k) {
                if (!pattern.has(i, k) || !pattern.has(k, j)) continue;
                tasks.add(kMultiply, 2, product, {a(i, k), a(k, j), product});
            }
            tasks.add_pass(kCompare, {kVerdict, i, j}, {product, Tile{kCopy, i, j}});
        }
    }
}

}  // namespace

bool is_there_at_first(std::uint64_t row, std::uint64_t column) {
    if (row == column || row + 1 == column || column + 1 == row) return true;
    if (row % 2 == 1 || column % 2 == 1) return false;
    return std::min(row, column) % 3 == 0;
}

void add_cholesky(TileTasks& to, std::uint64_t blocks, std::uint64_t size) {
    MatrixTasks tasks(to, size);
    for (std::uint64_t k = 0; k < blocks; ++k) {
        tasks.add(kPotrf, 1.0 / 3, a(k, k), {a(k, k)});
        for (std::uint64_t i = k + 1; i < blocks; ++i) tasks.add(kTrsm, 1, a(i, k), {a(k, k), a(i, k)});
        for (std::uint64_t i = k + 1; i < blocks; ++i) {
            for (std::uint64_t j = k + 1; j < i; ++j) {
                tasks.add(kGemm, 2, a(i, j), {a(i, k), a(j, k), a(i, j)});
            }
            tasks.add(kSyrk, 1, a(i, i), {a(i, k), a(i, i)});
        }
    }
}

void add_check_lu(TileTasks& to, std::uint64_t blocks, std::uint64_t size) {
    MatrixTasks tasks(to, size);
    Pattern pattern(blocks);
    for (std::uint64_t i = 0; i < blocks; ++i) {
        for (std::uint64_t j = 0; j < blocks; ++j) {
            if (pattern.has(i, j)) tasks.add_pass(kCopyTile, {kCopy, i, j}, {a(i, j)});
        }
    }
    factorise(tasks, pattern, blocks);
    check_product(tasks, pattern, blocks);
}

}  // namespace tiled_matrix

namespace h264_wave {

namespace {

class FrameTasks {
  public:
    FrameTasks(TileTasks& tasks, std::uint64_t frame) : tasks_(tasks), frame_(frame) {}

    void add_all() {
        if (frame_ > 0) tasks_.next_iteration();
        tasks_.add(kScan, 100, 0, at(kBitstream, 0, 0), {before(kBitstream, 0, 0)});
        for (std::uint64_t i = 0; i < kEntropyTasks; ++i) add_entropy_decoding(i);
        for_each_tile([this](auto row, auto column) { add_decoding(row, column); });
        for_each_tile([this](auto row, auto column) { add_deblocking(row, column); });
    }

  private:
    template <class Visit>
    static void for_each_tile(Visit visit) {
        for (std::uint64_t row = 0; row < kRows; ++row) {
            for (std::uint64_t column = 0; column < kColumns; ++column) visit(row, column);
        }
    }

    Tile at(Plane plane, std::uint64_t row, std::uint64_t column) const {
        return {frame_ * kPlanes + plane, row, column};
    }
    Tile before(Plane plane, std::uint64_t row, std::uint64_t column) const {
        return {(frame_ - 1) * kPlanes + plane, row, column};
    }

    void add_entropy_decoding(std::uint64_t i) {
        tasks_.add(kEntropy, 5.0 * kMacroblocksPerEntropyTask,
                   kMacroblocksPerEntropyTask * kBytesPerMacroblock, at(kMacroblocks, 0, i),
                   {at(kBitstream, 0, 0), at(kMacroblocks, 0, i - 1)});
    }

    void add_decoding(std::uint64_t row, std::uint64_t column) {
        // Macroblocks are coded row by row, so a tile waits for the last of its rows.
        const std::uint64_t coded = (row + 1) * kColumns * kMacroblocksPerTile / kMacroblocksPerEntropyTask;
        tasks_.add(kDecode, 10.0 * kMacroblocksPerTile, kTileBytes, at(kDecoded, row, column),
                   {at(kMacroblocks, 0, std::min(coded, kEntropyTasks - 1)), at(kDecoded, row, column - 1),
                    at(kDecoded, row - 1, column), at(kDecoded, row - 1, column + 1),
                    before(kShown, std::min(row + 1, kRows - 1), std::min(column + 1, kColumns - 1))});
    }

    void add_deblocking(std::uint64_t row, std::uint64_t column) {
        tasks_.add(kDeblock, 4.0 * kMacroblocksPerTile, kTileBytes, at(kShown, row, column),
                   {at(kDecoded, row, column), at(kShown, row, column - 1), at(kShown, row - 1, column)});
    }

    TileTasks& tasks_;
    std::uint64_t frame_;
};

}  // namespace

void add_frame(TileTasks& tasks, std::uint64_t frame) {
    FrameTasks(tasks, frame).add_all();
}

}  // namespace h264_wave

std::unique_ptr<TaskProgram> cholesky(std::uint64_t blocks, std::uint64_t size) {
    auto program =
        std::make_unique<TileProgram>("cholesky", std::vector<std::string>{"potrf", "trsm", "syrk", "gemm"});
    tiled_matrix::add_cholesky(*program, blocks, size);
    return program;
}

std::unique_ptr<TaskProgram> check_lu(std::uint64_t blocks, std::uint64_t size) {
    auto program = std::make_unique<TileProgram>(
        "check-lu",
        std::vector<std::string>{"copy", "lu", "forward", "divide", "update", "multiply", "compare"});
    tiled_matrix::add_check_lu(*program, blocks, size);
    return program;
}

std::unique_ptr<TaskProgram> h264(std::uint64_t frames) {
    auto program = std::make_unique<TileProgram>(
        "h264", std::vector<std::string>{"scan", "entropy-decode", "macroblock-decode", "deblock"});
    for (std::uint64_t frame = 0; frame < frames; ++frame) h264_wave::add_frame(*program, frame);
    return program;
}

}  // namespace tidemill
