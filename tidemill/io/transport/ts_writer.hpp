#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "tidemill/io/transport/byte_writer.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::io {

/// Writes transport stream packets, buffered, to a file, a named pipe, or "-" for standard output.
class TsWriter {
  public:
    /// Opens the file as ByteWriter does; throws IoError when that is not possible.
    explicit TsWriter(const std::filesystem::path& path) : bytes_(path) {}

    /// Appends whole packets. Throws as ByteWriter::write(), and IoError when the span is not a
    /// multiple of 188 bytes.
    void write(std::span<const std::uint8_t> packets);

    /// Hands everything to the system now, as a player that reads along wants it.
    void flush() { bytes_.flush(); }

    /// Flushes and closes; throws IoError unless everything arrived. Nothing can be written after it.
    void close() { bytes_.close(); }

    /// Packets taken so far, and of these the packets handed to the system without an error.
    std::uint64_t packets() const { return packets_; }
    std::uint64_t packets_delivered() const { return bytes_.bytes_delivered() / kTsPacketBytes; }

  private:
    ByteWriter bytes_;
    std::uint64_t packets_ = 0;
};

}  // namespace tidemill::io
