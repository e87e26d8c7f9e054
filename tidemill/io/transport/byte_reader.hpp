#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "tidemill/io/files/internal/file.hpp"
#include "tidemill/io/live/input_stream.hpp"

namespace tidemill::io {

/// Reads bytes from a regular file, a named pipe, or from "-", standard input.
class ByteReader {
  public:
    /// Throws IoError when the file cannot be opened.
    explicit ByteReader(const std::filesystem::path& path);

    /// Fills the span, waiting for what comes through a pipe; fewer bytes mean the end. Throws IoError.
    std::size_t read(std::span<std::uint8_t> to);

    /// A file begins anew; false for a stream, which cannot.
    bool rewind();

    /// From another thread: ends a wait for bytes of a stream.
    void end() noexcept;

  private:
    std::optional<internal::File> file_;
    std::optional<InputStream> stream_;  // instead
    std::uint64_t offset_ = 0;
};

}  // namespace tidemill::io
