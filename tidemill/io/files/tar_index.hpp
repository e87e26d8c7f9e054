#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tidemill::io {

/// A file inside an archive.
struct TarMember {
    std::string name;
    std::uint64_t offset = 0;  ///< of its first byte in the archive
    std::uint64_t size = 0;
};

/// The regular files of a tar archive (ustar, with the long names and sizes of GNU and pax) in its order.
/// Throws IoError when it is damaged, cut off or no tar archive at all.
std::vector<TarMember> list_tar(const std::filesystem::path& path);

}  // namespace tidemill::io
