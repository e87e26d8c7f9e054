#include "tidemill/io/recordings/digest_check.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "tidemill/io/files/internal/recorded_file.hpp"
#include "tidemill/io/files/sha512.hpp"

namespace tidemill::io {
namespace {

constexpr std::size_t kBlockBytes = 1 << 20;

char lower(unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
}

std::string digest_of(const Recording& recording) {
    const internal::RecordedFile file(recording.data_path);
    std::uint64_t next = recording.dataset_offset;
    const std::uint64_t end = next + recording.dataset_bytes;
    std::vector<std::byte> block(kBlockBytes);
    Sha512 sha;
    while (next < end) {
        const auto wanted = std::span(block).first(std::min<std::uint64_t>(block.size(), end - next));
        const std::size_t got = file.read_at(wanted, next);
        if (got == 0) break;
        sha.update(std::span(block).first(got));
        next += got;
    }
    return sha.finish();
}

}  // namespace

std::string check_digest(const Recording& recording) {
    if (recording.sha512.empty()) return {};
    if (!Sha512::is_available())
        return fmt::format(
            "the SHA-512 of '{}' was not checked: libcrypto.so.3 was not found; install libssl3",
            recording.data_path.string());
    if (std::ranges::equal(digest_of(recording), recording.sha512, {}, {}, lower)) return {};
    return fmt::format("the data in '{}' are not those the metadata describe: their SHA-512 differs",
                       recording.data_path.string());
}

}  // namespace tidemill::io
