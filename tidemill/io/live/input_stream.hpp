#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace tidemill::io {

namespace internal {
class TcpOpening;
}

/// Bytes that come as they may, once: from standard input ("-"), a named pipe, or a connection over TCP. A
/// wait for them can be ended.
class InputStream {
  public:
    /// Whether a path names such a stream: "-", a named pipe, "tcp://host:port", which connects, or
    /// "tcp-listen://host:port", which takes the first connection, or "rtl_tcp://host:port", which connects,
    /// too. Folders, devices and files are none.
    static bool is_stream(const std::filesystem::path& path);

    /// The other end need not be there yet: reading waits for it. Throws IoError.
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

    /// Once the other end is there, waiting for it longer than that is a failure: IoError. By the reading
    /// thread.
    void give_up_after(std::chrono::milliseconds silence) { longest_silence_ = silence; }

    /// Sends a few bytes to the other end of a connection that stands, which it is expected to take at once.
    /// Throws IoError when it does not.
    void tell(std::span<const std::byte> bytes);

    /// From another thread: ends a wait, and any later one.
    void end() noexcept;

  private:
    static constexpr std::chrono::milliseconds kForEver{-1};

    bool wait(std::chrono::milliseconds at_most);
    bool is_readable(std::chrono::milliseconds at_most) const;
    bool is_ended() const;
    bool is_ready(int descriptor, short events, std::chrono::milliseconds at_most) const;
    std::size_t read_some(std::span<std::byte> to, std::chrono::milliseconds patience);

    std::filesystem::path path_;
    std::unique_ptr<internal::TcpOpening> opening_;  // of a connection that does not stand yet
    std::chrono::milliseconds longest_silence_ = kForEver;
    int descriptor_ = -1;
    int ended_;  // an eventfd: readable for ever once end() was called
};

}  // namespace tidemill::io
