#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "tidemill/io/internal/file.hpp"

namespace tidemill::io::internal {

/// What a file holds that zstd compressed, read from its beginning on in memory of a bounded size: whoever
/// goes back has it begin anew. libzstd is found where the program runs. Every failure is an IoError.
class ZstdFile {
  public:
    /// Throws IoError without the library, too.
    explicit ZstdFile(const std::filesystem::path& path);
    ~ZstdFile();

    /// Fills the span from an offset as far as there is something.
    std::size_t read_at(std::span<std::byte> to, std::uint64_t offset);

    /// Bytes that it holds: reads all of them, the first time.
    std::uint64_t size();

  private:
    struct Stream;

    void begin_anew();
    std::size_t read(std::span<std::byte> to);
    void skip_to(std::uint64_t offset);

    File file_;
    std::unique_ptr<Stream> stream_;
    std::vector<std::byte> compressed_;
    std::size_t used_ = 0;       // of those
    std::uint64_t file_at_ = 0;  // behind those
    std::uint64_t at_ = 0;       // of what comes next
    bool is_inside_frame_ = false;
    std::uint64_t size_ = 0;  // 0: not known yet
};

}  // namespace tidemill::io::internal
