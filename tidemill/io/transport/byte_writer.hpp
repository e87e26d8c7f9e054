#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace tidemill::io {

namespace internal {
class OutputFile;
}

/// Writes bytes, buffered, to a file, a named pipe, or "-" for standard output.
class ByteWriter {
  public:
    /// Opens the file, which keeps what it held until something is written or close(). Throws IoError when
    /// that is not possible.
    explicit ByteWriter(const std::filesystem::path& path);

    /// The same, but the reader of a named pipe is waited for when something is written, until `enough` or
    /// end(): its opener is not held up.
    ByteWriter(const std::filesystem::path& path, std::stop_token enough);

    /// A file that was not there; none where something has that name.
    static std::optional<ByteWriter> make(const std::filesystem::path& path);

    ByteWriter(ByteWriter&&) noexcept;
    ByteWriter& operator=(ByteWriter&&) = delete;

    /// Flushes as far as it can; only close() reports whether everything arrived.
    ~ByteWriter();

    /// Appends bytes. Throws IoError when the path no longer takes them (full disk, closed pipe), and from
    /// then on every time: what follows a gap must not look like a stream without one.
    void write(std::span<const std::uint8_t> bytes);

    /// Hands everything to the system now, as a player that reads along wants it.
    void flush();

    /// Goes on where another writer had handed over so many bytes, and forgets what a file holds behind them.
    /// Throws IoError where it holds fewer. With `piece` > 0 whole pieces of that size behind them stay.
    void go_on_at(std::uint64_t bytes, std::size_t piece = 0);

    /// From now on end() works; a pipe is then written to in small pieces.
    void let_end();
    /// From any thread, after let_end(): a wait for a reader that reads nothing ends in an IoError now.
    void end() noexcept;

    /// Flushes and closes; throws IoError unless everything arrived. Nothing can be written after it.
    /// `empties`: a file to which nothing was written loses what it held.
    void close(bool empties = true);

    /// Bytes that the system has taken.
    std::uint64_t bytes_delivered() const { return bytes_delivered_; }
    /// Bytes taken and not handed over: after a failure, they are lost.
    std::uint64_t bytes_waiting() const { return buffer_.size(); }

  private:
    explicit ByteWriter(internal::OutputFile&& file);

    void check_usable() const;

    std::unique_ptr<internal::OutputFile> file_;
    std::vector<std::uint8_t> buffer_;
    std::string failure_;
    std::uint64_t bytes_delivered_ = 0;
};

}  // namespace tidemill::io
