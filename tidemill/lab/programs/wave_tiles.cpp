#include "tidemill/lab/programs/wave_tiles.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "tidemill/lab/sim/task_graphs.hpp"

namespace tidemill {

using namespace h264_wave;

namespace {

using Bytes = std::span<const std::byte>;

struct PlaneShape {
    std::uint64_t rows;
    std::uint64_t columns;
    std::uint64_t tile_bytes;

    std::uint64_t bytes() const { return rows * columns * tile_bytes; }
};

constexpr std::array<PlaneShape, kPlanes> kShapes{{
    {1, 1, 64},
    {1, kEntropyTasks, kMacroblocksPerEntropyTask* kBytesPerMacroblock},
    {kRows, kColumns, kTileBytes},
    {kRows, kColumns, kTileBytes},
}};

std::uint64_t frame_bytes() {
    std::uint64_t sum = 0;
    for (const PlaneShape& shape : kShapes) sum += shape.bytes();
    return sum;
}

std::uint64_t last_word(Bytes bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + bytes.size() - sizeof(word), sizeof(word));
    return word;
}

// Made-up data that follow from the ends of those read.
void generate(std::span<std::byte> written, std::span<const std::span<std::byte>> read) {
    std::uint64_t word = written.size();
    for (const Bytes tile : read) word = mixed(word, last_word(tile));
    for (std::size_t i = 0; i + sizeof(word) <= written.size(); i += sizeof(word)) {
        word = mixed(word, i);
        std::memcpy(&written[i], &word, sizeof(word));
    }
}

// Each pixel becomes the mean of those at its place in all tiles read, and of the pixel before it.
void predict(std::span<std::byte> written, std::span<const std::span<std::byte>> read) {
    std::uint32_t before = 128;
    for (std::size_t i = 0; i < written.size(); ++i) {
        std::uint32_t sum = before;
        for (const Bytes tile : read) sum += static_cast<std::uint32_t>(tile[i]);
        before = sum / static_cast<std::uint32_t>(read.size() + 1);
        written[i] = static_cast<std::byte>(before);
    }
}

}  // namespace

WaveTiles::WaveTiles(std::uint64_t frames, std::uint64_t frames_kept)
    : frames_(frames), frames_kept_(frames_kept), memory_(frames_kept * frame_bytes()) {}

std::span<std::byte> WaveTiles::at(const Tile& tile) {
    const std::uint64_t frame = tile.plane / kPlanes;
    const std::uint64_t plane = tile.plane % kPlanes;
    const PlaneShape& shape = kShapes[plane];
    if (frame >= frames_ || tile.row >= shape.rows || tile.column >= shape.columns) return {};
    std::uint64_t offset = frame % frames_kept_ * frame_bytes();
    for (std::uint64_t p = 0; p < plane; ++p) offset += kShapes[p].bytes();
    offset += (tile.row * shape.columns + tile.column) * shape.tile_bytes;
    return std::span(memory_).subspan(offset, shape.tile_bytes);
}

void WaveTiles::run(policy::TaskTypeId type, std::span<std::byte> written,
                    std::span<const std::span<std::byte>> read) const {
    type == kScan || type == kEntropy ? generate(written, read) : predict(written, read);
}

std::uint64_t WaveTiles::digest() const {
    std::uint64_t sum = 0;
    std::uint64_t word = 0;
    for (std::size_t i = 0; i + sizeof(word) <= memory_.size(); i += sizeof(word)) {
        std::memcpy(&word, &memory_[i], sizeof(word));
        sum = mixed(sum, word);
    }
    return sum;
}

}  // namespace tidemill
