#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "tidemill/io/transport/byte_writer.hpp"

namespace tidemill::io {

/// When a new file is begun.
struct RollLimits {
    std::uint64_t bytes = 0;      ///< no file has more, unless a single piece has; 0: no matter
    std::chrono::seconds age{0};  ///< a file is this old; 0: no matter

    bool any() const { return bytes > 0 || age.count() > 0; }
};

/// Times, for tests.
struct RollClock {
    std::function<std::chrono::system_clock::time_point()> date = std::chrono::system_clock::now;
    std::function<std::chrono::steady_clock::time_point()> steady = std::chrono::steady_clock::now;
};

/// Writes pieces to a row of files whose names hold the time at which each began: video.ts becomes
/// video.20261123T114500Z.ts, and video.20261123T114500Z-2.ts where that is there. Never touches a file that
/// is there.
class RollingWriter {
  public:
    /// Opens the first file; throws IoError.
    RollingWriter(std::filesystem::path path, const RollLimits& limits, RollClock clock = {});

    /// Appends a piece, which stays whole; throws as ByteWriter does.
    void write(std::span<const std::uint8_t> piece);
    void flush() { file_->flush(); }
    void close(bool empties = true) { file_->close(empties); }

    /// Part of the name of the file that is written now, and the bytes in it.
    const std::string& part() const { return part_; }
    std::uint64_t bytes() const { return file_->bytes_delivered(); }
    /// Bytes taken and not handed over: after a failure, they are lost.
    std::uint64_t bytes_waiting() const { return file_->bytes_waiting() + without_file_; }

    /// Goes on in such a part, behind so many bytes. Throws IoError where it is not there or holds fewer, or
    /// where that names no part.
    void go_on_at(const std::string& part, std::uint64_t bytes);

  private:
    std::filesystem::path path_of(const std::string& part) const;
    void begin_file();
    bool is_full(std::size_t more) const;

    std::filesystem::path path_;
    RollLimits limits_;
    RollClock clock_;
    std::optional<ByteWriter> file_{};
    std::string part_{};
    std::uint64_t without_file_ = 0;  // bytes of a piece while a file for it is begun
    std::uint64_t taken_ = 0;         // bytes of this file, buffered ones included
    std::chrono::steady_clock::time_point begun_{};
};

}  // namespace tidemill::io
