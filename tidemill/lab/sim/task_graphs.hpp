#pragma once

#include <cstdint>
#include <memory>

#include "tidemill/lab/sim/task_program.hpp"
#include "tidemill/lab/sim/tile_tasks.hpp"

/// Programs that are no streams: tasks that read and write tiles. Tiles are renamed, so that a task waits
/// only for those that wrote what it reads.
namespace tidemill {

/// The tiles and task types of cholesky() and check_lu(), and their tasks in order.
namespace tiled_matrix {

enum Plane : std::uint64_t { kA, kCopy, kProduct, kVerdict, kPlanes };
enum CholeskyTaskType : policy::TaskTypeId { kPotrf, kTrsm, kSyrk, kGemm };
enum LuTaskType : policy::TaskTypeId { kCopyTile, kLu, kForward, kDivide, kUpdate, kMultiply, kCompare };

/// Whether a tile of the sparse matrix is not zero before it is factorised.
bool is_there_at_first(std::uint64_t row, std::uint64_t column);

void add_cholesky(TileTasks& tasks, std::uint64_t blocks, std::uint64_t size);
void add_check_lu(TileTasks& tasks, std::uint64_t blocks, std::uint64_t size);

}  // namespace tiled_matrix

/// The tiles and task types of h264(), and its tasks in order. A frame has planes of its own, kPlanes of
/// them. Rows and columns before the first are tiles that nobody writes.
namespace h264_wave {

enum Plane : std::uint64_t { kBitstream, kMacroblocks, kDecoded, kShown, kPlanes };
enum Type : policy::TaskTypeId { kScan, kEntropy, kDecode, kDeblock };
inline constexpr std::uint64_t kEntropyTasks = 136;
inline constexpr std::uint64_t kMacroblocksPerEntropyTask = 60;
inline constexpr std::uint64_t kRows = 17;
inline constexpr std::uint64_t kColumns = 31;
inline constexpr std::uint64_t kMacroblocksPerTile = 16;
inline constexpr std::uint64_t kBytesPerMacroblock = 384;  // 4:2:0 at 8 bits
inline constexpr std::uint64_t kTileBytes = kMacroblocksPerTile * kBytesPerMacroblock;

void add_frame(TileTasks& tasks, std::uint64_t frame);

}  // namespace h264_wave

/// Cholesky factorisation of `blocks` x `blocks` tiles of `size` x `size` numbers; one floating-point
/// operation takes a nanosecond.
std::unique_ptr<TaskProgram> cholesky(std::uint64_t blocks = 16, std::uint64_t size = 32);

/// LU factorisation of a sparse matrix of tiles (with the pattern of the SMPSs example: tiles near the
/// diagonal, and every third one of the even rows and columns), then the product of both factors and its
/// comparison with a copy.
std::unique_ptr<TaskProgram> check_lu(std::uint64_t blocks = 16, std::uint64_t size = 32);

/// An H.264 decoder's skeleton with the 3-D wave: per frame of 1920x1080 one scan, 136 entropy decodings of
/// 60 macroblocks in a row, and 17 x 31 skewed tiles of 4x4 macroblocks, decoded and deblocked. A tile waits
/// for its left, upper and upper right neighbour, for its macroblocks, and for the tile of the frame before
/// that its motion may reach (one tile down and right). Times per macroblock, our own choice: 5 us entropy
/// decoding, 10 us decoding, 4 us deblocking; a scan takes 100 us.
std::unique_ptr<TaskProgram> h264(std::uint64_t frames = 100);

}  // namespace tidemill
