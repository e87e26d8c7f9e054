#pragma once

#include <filesystem>

namespace tidemill::io {

/// Whether a path is "-", by which standard input or standard output is meant.
inline bool is_standard_stream(const std::filesystem::path& path) {
    return path == "-";
}

}  // namespace tidemill::io
