#include "tidemill/machine/memory.hpp"

#include <fstream>
#include <limits>
#include <sstream>

namespace tidemill {
namespace {

std::optional<std::size_t> read_kib(std::istream& words) {
    constexpr std::size_t kKib = 1024;
    std::size_t kib = 0;
    std::string unit;
    const bool good = words >> std::ws && words.peek() != '-' && words >> kib >> unit && unit == "kB";
    if (!good || kib > std::numeric_limits<std::size_t>::max() / kKib) return std::nullopt;
    return kib * kKib;
}

}  // namespace

MemoryUse memory_use(const std::string& proc_root) {
    MemoryUse use;
    std::ifstream in(proc_root + "/self/status");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string key;
        words >> key;
        if (key == "VmHWM:") use.peak_bytes = read_kib(words);
        if (key == "VmRSS:") use.resident_bytes = read_kib(words);
        if (key == "RssFile:") use.file_bytes = read_kib(words);
    }
    return use;
}

}  // namespace tidemill
