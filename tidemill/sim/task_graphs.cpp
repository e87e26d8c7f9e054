#include "tidemill/sim/task_graphs.hpp"

#include <algorithm>

#include "tidemill/sim/detail_tile_program.hpp"

namespace tidemill {

namespace {

using detail::TileProgram;

// A row or column before the first is a tile that nobody writes: it counts as being there.
using Tile = TileProgram::Tile;

// Tasks on square tiles of numbers, their times from counts of floating-point operations.
class MatrixProgram {
  public:
    MatrixProgram(std::string name, std::vector<std::string> kernels, std::uint64_t size)
        : program_(std::make_unique<TileProgram>(std::move(name), std::move(kernels))), size_(size) {}

    // `cubes` are operations per size^3.
    void add(policy::KernelId kernel, double cubes, const Tile& written, const std::vector<Tile>& read) {
        const auto n = static_cast<double>(size_);
        program_->add(kernel, cubes * n * n * n * kUsPerOperation, size_ * size_ * sizeof(double), written,
                      read);
    }

    // Something that touches every number once.
    void add_pass(policy::KernelId kernel, const Tile& written, const std::vector<Tile>& read) {
        add(kernel, 1.0 / static_cast<double>(size_), written, read);
    }

    std::unique_ptr<TaskProgram> program() && { return std::move(program_); }

  private:
    static constexpr double kUsPerOperation = 1e-3;

    std::unique_ptr<TileProgram> program_;
    std::uint64_t size_;
};

bool is_there_at_first(std::uint64_t row, std::uint64_t column) {
    if (row == column || row + 1 == column || column + 1 == row) return true;
    if (row % 2 == 1 || column % 2 == 1) return false;
    return std::min(row, column) % 3 == 0;
}

// Which tiles of a matrix are not zero; the factorisation fills some in.
class Pattern {
  public:
    explicit Pattern(std::uint64_t blocks) : blocks_(blocks), there_(blocks * blocks) {
        for (std::uint64_t row = 0; row < blocks; ++row) {
            for (std::uint64_t column = 0; column < blocks; ++column) {
                there_[row * blocks + column] = is_there_at_first(row, column);
            }
        }
    }
    bool has(std::uint64_t row, std::uint64_t column) const { return there_[row * blocks_ + column]; }
    void fill(std::uint64_t row, std::uint64_t column) { there_[row * blocks_ + column] = true; }

  private:
    std::uint64_t blocks_;
    std::vector<bool> there_;
};

enum Matrix : std::uint64_t { kA, kCopy, kProduct, kVerdict };
enum LuKernel : policy::KernelId { kCopyTile, kLu, kForward, kDivide, kUpdate, kMultiply, kCompare };

void factorise(MatrixProgram& program, Pattern& pattern, std::uint64_t blocks) {
    const auto a = [](std::uint64_t row, std::uint64_t column) { return Tile{kA, row, column}; };
    for (std::uint64_t k = 0; k < blocks; ++k) {
        program.add(kLu, 2.0 / 3, a(k, k), {a(k, k)});
        for (std::uint64_t j = k + 1; j < blocks; ++j) {
            if (pattern.has(k, j)) program.add(kForward, 1, a(k, j), {a(k, k), a(k, j)});
        }
        for (std::uint64_t i = k + 1; i < blocks; ++i) {
            if (pattern.has(i, k)) program.add(kDivide, 1, a(i, k), {a(k, k), a(i, k)});
        }
        for (std::uint64_t i = k + 1; i < blocks; ++i) {
            for (std::uint64_t j = k + 1; j < blocks; ++j) {
                if (!pattern.has(i, k) || !pattern.has(k, j)) continue;
                program.add(kUpdate, 2, a(i, j), {a(i, k), a(k, j), a(i, j)});
                pattern.fill(i, j);
            }
        }
    }
}

void check_product(MatrixProgram& program, const Pattern& pattern, std::uint64_t blocks) {
    for (std::uint64_t i = 0; i < blocks; ++i) {
        for (std::uint64_t j = 0; j < blocks; ++j) {
            const Tile product{kProduct, i, j};
            for (std::uint64_t k = 0; k <= std::min(i, j); ++k) {
                if (!pattern.has(i, k) || !pattern.has(k, j)) continue;
                program.add(kMultiply, 2, product, {Tile{kA, i, k}, Tile{kA, k, j}, product});
            }
            program.add_pass(kCompare, {kVerdict, i, j}, {product, Tile{kCopy, i, j}});
        }
    }
}

// The decoder, frame by frame.
class H264 {
  public:
    void add_frame(std::uint64_t frame) {
        frame_ = frame;
        if (frame > 0) program_->next_iteration();
        program_->add(kScan, 100, 0, at(kBitstream, 0, 0), {before(kBitstream, 0, 0)});
        for (std::uint64_t i = 0; i < kEntropyTasks; ++i) add_entropy_decoding(i);
        for (std::uint64_t row = 0; row < kRows; ++row) {
            for (std::uint64_t column = 0; column < kColumns; ++column) add_tile(row, column);
        }
    }

    std::unique_ptr<TaskProgram> program() && { return std::move(program_); }

  private:
    enum Kernel : policy::KernelId { kScan, kEntropy, kDecode, kDeblock };
    enum Plane : std::uint64_t { kBitstream, kMacroblocks, kDecoded, kShown, kPlanes };
    static constexpr std::uint64_t kEntropyTasks = 136;
    static constexpr std::uint64_t kMacroblocksPerEntropyTask = 60;
    static constexpr std::uint64_t kRows = 17;
    static constexpr std::uint64_t kColumns = 31;
    static constexpr std::uint64_t kMacroblocksPerTile = 16;
    static constexpr std::uint64_t kBytesPerMacroblock = 384;  // 4:2:0 at 8 bits
    static constexpr std::uint64_t kTileBytes = kMacroblocksPerTile * kBytesPerMacroblock;

    Tile at(Plane plane, std::uint64_t row, std::uint64_t column) const {
        return {frame_ * kPlanes + plane, row, column};
    }
    Tile before(Plane plane, std::uint64_t row, std::uint64_t column) const {
        return {(frame_ - 1) * kPlanes + plane, row, column};
    }

    void add_entropy_decoding(std::uint64_t i) {
        program_->add(kEntropy, 5.0 * kMacroblocksPerEntropyTask,
                      kMacroblocksPerEntropyTask * kBytesPerMacroblock, at(kMacroblocks, 0, i),
                      {at(kBitstream, 0, 0), at(kMacroblocks, 0, i - 1)});
    }

    void add_tile(std::uint64_t row, std::uint64_t column) {
        // Macroblocks are coded row by row, so a tile waits for the last of its rows.
        const std::uint64_t coded = (row + 1) * kColumns * kMacroblocksPerTile / kMacroblocksPerEntropyTask;
        program_->add(kDecode, 10.0 * kMacroblocksPerTile, kTileBytes, at(kDecoded, row, column),
                      {at(kMacroblocks, 0, std::min(coded, kEntropyTasks - 1)), at(kDecoded, row, column - 1),
                       at(kDecoded, row - 1, column), at(kDecoded, row - 1, column + 1),
                       before(kShown, std::min(row + 1, kRows - 1), std::min(column + 1, kColumns - 1))});
        program_->add(kDeblock, 4.0 * kMacroblocksPerTile, kTileBytes, at(kShown, row, column),
                      {at(kDecoded, row, column), at(kShown, row, column - 1), at(kShown, row - 1, column)});
    }

    std::unique_ptr<TileProgram> program_ = std::make_unique<TileProgram>(
        "h264", std::vector<std::string>{"scan", "entropy-decode", "macroblock-decode", "deblock"});
    std::uint64_t frame_ = 0;
};

}  // namespace

std::unique_ptr<TaskProgram> cholesky(std::uint64_t blocks, std::uint64_t size) {
    enum Kernel : policy::KernelId { kPotrf, kTrsm, kSyrk, kGemm };
    MatrixProgram program("cholesky", {"potrf", "trsm", "syrk", "gemm"}, size);
    const auto a = [](std::uint64_t row, std::uint64_t column) { return Tile{kA, row, column}; };
    for (std::uint64_t k = 0; k < blocks; ++k) {
        program.add(kPotrf, 1.0 / 3, a(k, k), {a(k, k)});
        for (std::uint64_t i = k + 1; i < blocks; ++i) program.add(kTrsm, 1, a(i, k), {a(k, k), a(i, k)});
        for (std::uint64_t i = k + 1; i < blocks; ++i) {
            for (std::uint64_t j = k + 1; j < i; ++j) {
                program.add(kGemm, 2, a(i, j), {a(i, k), a(j, k), a(i, j)});
            }
            program.add(kSyrk, 1, a(i, i), {a(i, k), a(i, i)});
        }
    }
    return std::move(program).program();
}

std::unique_ptr<TaskProgram> check_lu(std::uint64_t blocks, std::uint64_t size) {
    MatrixProgram program("check-lu", {"copy", "lu", "forward", "divide", "update", "multiply", "compare"},
                          size);
    Pattern pattern(blocks);
    for (std::uint64_t i = 0; i < blocks; ++i) {
        for (std::uint64_t j = 0; j < blocks; ++j) {
            if (pattern.has(i, j)) program.add_pass(kCopyTile, {kCopy, i, j}, {Tile{kA, i, j}});
        }
    }
    factorise(program, pattern, blocks);
    check_product(program, pattern, blocks);
    return std::move(program).program();
}

std::unique_ptr<TaskProgram> h264(std::uint64_t frames) {
    H264 decoder;
    for (std::uint64_t frame = 0; frame < frames; ++frame) decoder.add_frame(frame);
    return std::move(decoder).program();
}

}  // namespace tidemill
