#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>

namespace tidemill::io {

/// Bytes that come as they may, once: from standard input ("-") or a named pipe. Whoever waits for them can
/// be told that no more are wanted.
class InputStream {
  public:
    /// Whether a path names such a stream. Folders, devices and regular files are none.
    static bool is_stream(const std::filesystem::path& path);

    /// A named pipe's other end need not be open yet: reading waits for it. Throws IoError.
    explicit InputStream(const std::filesystem::path& path);
    InputStream(const InputStream&) = delete;
    InputStream& operator=(const InputStream&) = delete;
    ~InputStream();

    /// Waits for bytes; 0 is the end. Throws IoError.
    std::size_t read_some(std::span<std::byte> to);

    /// Fills the span, waiting for what comes; fewer bytes mean the end. Throws IoError.
    std::size_t read(std::span<std::byte> to);

    /// The same, but once something came nobody waits longer than `patience` for more.
    std::size_t read(std::span<std::byte> to, std::chrono::milliseconds patience);

    /// From another thread: whoever waits is told that this is the end, and so is everyone later.
    void end() noexcept;

  private:
    static constexpr std::chrono::milliseconds kForEver{-1};

    bool wait(std::chrono::milliseconds at_most) const;
    std::size_t read_some(std::span<std::byte> to, std::chrono::milliseconds patience);

    std::filesystem::path path_;
    int descriptor_;
    int ended_;  // an eventfd: readable for ever once end() was called
};

}  // namespace tidemill::io
