#include "tidemill/io/files/internal/packed_file.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "tidemill/io/files/internal/filter_file.hpp"
#include "tidemill/io/files/internal/zstd_file.hpp"

namespace tidemill::io::internal {
namespace {

struct Packing {
    std::string_view extension;
    const char* program;  // that unpacks its standard input with -dc; null: a library does
};

constexpr Packing kPackings[] = {{".zst", nullptr}, {".gz", "gzip"}, {".xz", "xz"}, {".bz2", "bzip2"}};

const Packing* packing_of(const std::filesystem::path& path) {
    const auto* const found = std::ranges::find(kPackings, path.extension().string(), &Packing::extension);
    return found == std::end(kPackings) ? nullptr : found;
}

}  // namespace

void PackedFile::skip_to(std::uint64_t offset) {
    if (offset < at_) {
        begin_anew();
        at_ = 0;
    }
    std::vector<std::byte> skipped(std::min<std::uint64_t>(offset - at_, 1 << 20));
    while (at_ < offset) {
        const std::size_t got =
            read(std::span(skipped).first(std::min<std::uint64_t>(skipped.size(), offset - at_)));
        at_ += got;
        if (got == 0) return;
    }
}

std::size_t PackedFile::read_at(std::span<std::byte> to, std::uint64_t offset) {
    skip_to(offset);
    const std::size_t got = at_ == offset ? read(to) : 0;
    at_ += got;
    return got;
}

std::uint64_t PackedFile::size() {
    if (size_ == 0) {
        skip_to(UINT64_MAX);
        size_ = at_;
    }
    return size_;
}

std::filesystem::path without_packing(const std::filesystem::path& path) {
    return packing_of(path) ? path.parent_path() / path.stem() : path;
}

std::unique_ptr<PackedFile> open_packed(const std::filesystem::path& path) {
    const Packing* const packing = packing_of(path);
    if (!packing) return nullptr;
    if (packing->program) return std::make_unique<FilterFile>(path, packing->program);
    return std::make_unique<ZstdFile>(path);
}

}  // namespace tidemill::io::internal
