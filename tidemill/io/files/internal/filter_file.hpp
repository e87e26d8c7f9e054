#pragma once

#include <filesystem>

#include <sys/types.h>

#include "tidemill/io/files/internal/file.hpp"
#include "tidemill/io/files/internal/packed_file.hpp"

namespace tidemill::io::internal {

/// Output of a program of this machine, as `gzip -dc`, whose standard input is the file. The program gets no
/// file name, and no shell lies between.
class FilterFile final : public PackedFile {
  public:
    /// `program` is found by PATH, and unpacks with -dc. Throws IoError without it, too.
    FilterFile(const std::filesystem::path& path, const char* program);
    FilterFile(const FilterFile&) = delete;
    FilterFile& operator=(const FilterFile&) = delete;
    ~FilterFile() override;

  protected:
    void begin_anew() override;
    std::size_t read(std::span<std::byte> to) override;

  private:
    void start(int to);
    void stop() noexcept;
    void check_end();

    std::filesystem::path path_;
    const char* program_;
    pid_t process_ = -1;  // none: it has ended
    int from_ = -1;       // its standard output
};

}  // namespace tidemill::io::internal
