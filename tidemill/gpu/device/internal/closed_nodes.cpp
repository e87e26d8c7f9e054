#include "tidemill/gpu/device/internal/closed_nodes.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace tidemill::device {
namespace {

// Nodes of NVIDIA, of AMD, of Arm, and of all that are drawn with.
bool is_gpu_node(std::string_view name) {
    constexpr std::array<std::string_view, 4> kBegins{"nvidia", "kfd", "mali", "renderD"};
    return std::ranges::any_of(kBegins, [&](std::string_view begin) { return name.starts_with(begin); });
}

}  // namespace

bool may_open(const std::filesystem::path& file) {
    return access(file.c_str(), R_OK | W_OK) == 0;
}

std::vector<std::string> closed_nodes(const std::filesystem::path& folder,
                                      const std::function<bool(const std::filesystem::path&)>& may_open_it) {
    std::vector<std::string> closed;
    for (const auto& in : {folder, folder / "dri"}) {
        std::error_code none;
        for (const auto& entry : std::filesystem::directory_iterator(in, none)) {
            if (!is_gpu_node(entry.path().filename().string()) || entry.is_directory(none) ||
                may_open_it(entry.path()))
                continue;
            closed.push_back(
                fmt::format("no permission: {} is there, and may not be opened; join the group that owns it",
                            entry.path().string()));
        }
    }
    std::ranges::sort(closed);
    return closed;
}

}  // namespace tidemill::device
