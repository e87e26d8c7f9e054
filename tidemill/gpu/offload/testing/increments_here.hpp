#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tidemill/gpu/device/stand_in.hpp"

namespace tidemill::internal {

/// The kernel increment_rows, for a stand-in device.
inline void increment_rows(WorkSize, std::span<const KernelArgument> arguments) {
    const auto from = StandInDevice::as<std::uint32_t>(arguments[0]);
    const auto to = StandInDevice::as<std::uint32_t>(arguments[1]);
    const auto rows = StandInDevice::as<std::uint32_t>(arguments[2]);
    const std::size_t frames = std::get<std::uint32_t>(arguments[3]);
    const std::size_t numbers = std::get<std::uint32_t>(arguments[4]);
    for (std::size_t frame = 0; frame < frames; ++frame)
        for (std::size_t i = 0; i < numbers; ++i)
            to[rows[frames + frame] * numbers + i] = from[rows[frame] * numbers + i] + 1;
}

}  // namespace tidemill::internal
