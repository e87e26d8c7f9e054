#pragma once

#include <filesystem>

namespace tidemill::io::internal {

/// Throws the IoError of an `action` that failed with an error number of the system.
[[noreturn]] void fail_file(const char* action, const std::filesystem::path& path, int error);

}  // namespace tidemill::io::internal
