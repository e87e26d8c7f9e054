#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>

namespace tidemill::io::internal {

/// An open output that closes itself; every failure is an IoError that names the path and the reason.
/// A file keeps what it held until the first byte is written or it is closed: a job that is refused before
/// then has destroyed nothing, and leaves nothing behind.
class OutputFile {
  public:
    /// A file, there or not and not written by anybody else, a device, or a named pipe, whose reader is
    /// waited for; "-" is standard output.
    explicit OutputFile(const std::filesystem::path& path);
    /// The same, but a named pipe is opened when something is written to it, and its reader is waited for
    /// then, until `enough` or end(); a reader that reads nothing is given up soon after `enough`.
    OutputFile(const std::filesystem::path& path, std::stop_token enough);
    /// A file that was not there; none where something has that name.
    static std::optional<OutputFile> make(const std::filesystem::path& path);
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    /// Empties the file; called again it does nothing.
    void begin();

    /// Keeps so many bytes of what a file held, and with `piece` > 0 whole pieces of that size behind them,
    /// and writes behind those. Returns the bytes kept. Throws where the file holds fewer; does nothing for
    /// anything but a file.
    std::uint64_t go_on_at(std::uint64_t bytes, std::size_t piece = 0);

    /// Writes everything or throws; a closed pipe is an error, never a signal. A file where that fails, as on
    /// a full disk, holds what it held before.
    void write_all(std::span<const std::byte> bytes);

    /// Bytes that the system has taken, those before a failure too.
    std::uint64_t written() const { return written_; }

    /// From now on end() works, for which a pipe is written to in small pieces.
    void let_end();
    /// From any thread, after let_end(): a thread that waits for a pipe's reader gets an exception, and so
    /// does any later one.
    void end() noexcept;

    /// Closes the file and reports what the system could not write until now. `empties`: where nothing was
    /// written, what the file held goes.
    void close(bool empties = true);

  private:
    enum class Before {
        made,    // by this object: it goes again when nothing is written
        kept,    // a file that was there and still holds what it held
        passed,  // begun, or no file: nothing to empty
    };

    OutputFile(std::filesystem::path path, int descriptor, Before before);

    void open_file();
    void lock();
    bool open_late();
    void wait_until_open();
    void wait_for_reader() const;
    bool may_be_given_up() const;
    void take_back(std::size_t written) noexcept;

    std::filesystem::path path_;
    int descriptor_ = -1;
    std::uint64_t written_ = 0;
    bool is_late_ = false;  // a pipe that is not open yet
    std::stop_token enough_{};
    int ended_ = -1;  // an event; none where nobody ends it
    Before before_ = Before::passed;
};

}  // namespace tidemill::io::internal
