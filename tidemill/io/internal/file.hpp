#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace tidemill::io::internal {

/// An open file that closes itself; every failure is an IoError that names the path and the reason.
class File {
  public:
    /// An existing regular file; a folder, pipe or device is refused.
    static File open_regular(const std::filesystem::path& path);

    /// A new or emptied file, a device or a named pipe; "-" is standard output.
    static File open_for_writing(const std::filesystem::path& path);

    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    ~File();

    std::uint64_t size() const;

    /// Fills the span from an offset as far as the file reaches; returns the bytes read.
    std::size_t read_at(std::span<std::byte> to, std::uint64_t offset) const;

    /// Writes everything or throws; a closed pipe is an error, never a signal.
    void write_all(std::span<const std::byte> bytes);

    /// Closes the file and reports what the system could not write until now.
    void close();

    const std::filesystem::path& path() const { return path_; }

  private:
    File(int descriptor, std::filesystem::path path);

    int descriptor_;
    std::filesystem::path path_;
};

}  // namespace tidemill::io::internal
