#pragma once

#include <cstdint>
#include <memory>

#include "tidemill/sim/task_program.hpp"

/// Programs that are no streams: tasks that read and write tiles. Tiles are renamed, so that a task waits
/// only for those that wrote what it reads.
namespace tidemill {

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
