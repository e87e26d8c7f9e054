#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "tidemill/io/files/internal/file.hpp"
#include "tidemill/io/files/internal/packed_file.hpp"

namespace tidemill::io::internal {

/// Content of a file that zstd compressed. libzstd is found where the program runs.
class ZstdFile final : public PackedFile {
  public:
    /// Throws IoError without the library, too.
    explicit ZstdFile(const std::filesystem::path& path);
    ~ZstdFile() override;

  protected:
    void begin_anew() override;
    std::size_t read(std::span<std::byte> to) override;

  private:
    struct Stream;

    File file_;
    std::unique_ptr<Stream> stream_;
    std::vector<std::byte> compressed_;
    std::size_t used_ = 0;       // of those
    std::uint64_t file_at_ = 0;  // behind those
    bool is_inside_frame_ = false;
};

}  // namespace tidemill::io::internal
