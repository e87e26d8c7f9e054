#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::io {

/// A transport stream read from a file.
struct TsFile {
    std::vector<std::uint8_t> bytes;   // whole packets, one behind the other
    std::uint64_t trailing_bytes = 0;  // after the last whole packet, left out

    std::size_t packets() const { return bytes.size() / kTsPacketBytes; }
};

/// Reads a whole transport stream file; throws IoError when it is empty or a packet lacks its sync byte.
TsFile read_ts_file(const std::filesystem::path& path);

}  // namespace tidemill::io
