#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tidemill {

/// The process's resident memory as the kernel accounts it; file mappings are part of the first two.
struct MemoryUse {
    std::optional<std::size_t> peak_bytes = {};      // VmHWM
    std::optional<std::size_t> resident_bytes = {};  // VmRSS
    std::optional<std::size_t> file_bytes = {};      // RssFile
};

/// Read from `proc_root`/self/status; what is not there, or is not a size, stays empty.
MemoryUse memory_use(const std::string& proc_root = "/proc");

}  // namespace tidemill
