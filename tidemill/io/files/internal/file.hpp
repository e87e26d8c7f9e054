#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace tidemill::io::internal {

/// A file open for reading that closes itself; every failure is an IoError that names the path and the
/// reason.
class File {
  public:
    /// An existing regular file; a folder, pipe or device is refused.
    static File open_regular(const std::filesystem::path& path);

    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    ~File();

    std::uint64_t size() const;

    /// Fills the span from an offset as far as the file reaches; returns the bytes read.
    std::size_t read_at(std::span<std::byte> to, std::uint64_t offset) const;

    const std::filesystem::path& path() const { return path_; }

  private:
    File(int descriptor, std::filesystem::path path);

    int descriptor_;
    std::filesystem::path path_;
};

}  // namespace tidemill::io::internal
