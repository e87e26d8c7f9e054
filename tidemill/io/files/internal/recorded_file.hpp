#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "tidemill/io/files/internal/file.hpp"
#include "tidemill/io/files/internal/packed_file.hpp"

namespace tidemill::io::internal {

/// A file of a recording: as it is, or unpacked while it is read where its name says how it is compressed.
class RecordedFile {
  public:
    explicit RecordedFile(const std::filesystem::path& path) : packed_(open_packed(path)) {
        if (!packed_) plain_ = std::make_unique<File>(File::open_regular(path));
    }

    /// Whether its size is known only once all of it is read.
    bool is_packed() const { return packed_ != nullptr; }
    std::uint64_t size() const { return plain_ ? plain_->size() : packed_->size(); }

    /// Fills the span from an offset as far as the file reaches; returns the bytes read.
    std::size_t read_at(std::span<std::byte> to, std::uint64_t offset) const {
        return plain_ ? plain_->read_at(to, offset) : packed_->read_at(to, offset);
    }

  private:
    std::unique_ptr<PackedFile> packed_;
    std::unique_ptr<File> plain_;  // instead
};

}  // namespace tidemill::io::internal
