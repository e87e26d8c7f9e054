#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tidemill/io/detail_file.hpp"
#include "tidemill/io/ts_packet.hpp"

namespace tidemill::io {

/// Writes transport stream packets, buffered, to a file, a named pipe, or "-" for standard output.
class TsWriter {
  public:
    /// Creates or empties the file; throws IoError when that is not possible.
    explicit TsWriter(const std::filesystem::path& path);

    TsWriter(TsWriter&&) = default;
    TsWriter& operator=(TsWriter&&) = delete;

    /// Flushes as far as it can; only close() tells whether everything arrived.
    ~TsWriter();

    /// Appends whole packets. Throws IoError when the path no longer takes them (full disk, closed pipe) and
    /// std::invalid_argument when the span is not a multiple of 188 bytes. After the first IoError every
    /// further call throws it again: what follows a gap must not look like a stream without one.
    void write(std::span<const std::uint8_t> packets);

    /// Hands everything to the system now, as a player that reads along wants it.
    void flush();

    /// Flushes and closes; throws IoError unless everything arrived. Nothing can be written after it.
    void close();

    /// Packets taken so far, and of these the packets handed to the system without an error.
    std::uint64_t packets() const { return packets_; }
    std::uint64_t packets_delivered() const { return packets_delivered_; }

  private:
    void check_usable() const;

    detail::File file_;
    std::vector<std::uint8_t> buffer_;
    std::string failure_;
    std::uint64_t packets_ = 0;
    std::uint64_t packets_delivered_ = 0;
};

}  // namespace tidemill::io
