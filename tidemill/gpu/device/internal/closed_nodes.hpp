#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tidemill::device {

/// Whether this user may open a file for reading and writing.
bool may_open(const std::filesystem::path& file);

/// Drivers report a GPU that they may not open as missing. Those of the system's nodes of GPUs that are there
/// and may not be opened, each as a sentence that says what to do.
std::vector<std::string> closed_nodes(
    const std::filesystem::path& folder = "/dev",
    const std::function<bool(const std::filesystem::path&)>& may_open_it = may_open);

}  // namespace tidemill::device
