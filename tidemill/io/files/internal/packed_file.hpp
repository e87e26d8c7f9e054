#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace tidemill::io::internal {

/// Content of a compressed file, unpacked while it is read, from its beginning on in memory of a bounded
/// size: a step back begins anew. Every failure is an IoError.
class PackedFile {
  public:
    virtual ~PackedFile() = default;

    /// Fills the span from an offset as far as there is something.
    std::size_t read_at(std::span<std::byte> to, std::uint64_t offset);

    /// Bytes that it holds: reads all of them, the first time.
    std::uint64_t size();

  protected:
    virtual void begin_anew() = 0;
    /// The next bytes; fewer than there is room for only at the end.
    virtual std::size_t read(std::span<std::byte> to) = 0;

  private:
    void skip_to(std::uint64_t offset);

    std::uint64_t at_ = 0;    // of what comes next
    std::uint64_t size_ = 0;  // 0: not known yet
};

/// The path without what says how the file is compressed: x.cf32 of x.cf32.gz.
std::filesystem::path without_packing(const std::filesystem::path& path);

/// Opens a file whose name says how it is compressed, by .zst, .gz, .xz or .bz2; null where it does not.
std::unique_ptr<PackedFile> open_packed(const std::filesystem::path& path);

}  // namespace tidemill::io::internal
