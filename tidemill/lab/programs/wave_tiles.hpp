#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/lab/programs/tile_run.hpp"

namespace tidemill {

/// The tiles of h264_wave::add_frame(), some frames at a time: later ones take the memory of earlier ones.
class WaveTiles final : public Tiles {
  public:
    /// `frames_kept` is 2 or more, since a frame reads the one before.
    WaveTiles(std::uint64_t frames, std::uint64_t frames_kept);

    std::span<std::byte> at(const Tile& tile) override;
    void run(policy::TaskTypeId type, std::span<std::byte> written,
             std::span<const std::span<std::byte>> read) const override;
    std::uint64_t digest() const override;

  private:
    std::uint64_t frames_;
    std::uint64_t frames_kept_;
    std::vector<std::byte> memory_;
};

}  // namespace tidemill
