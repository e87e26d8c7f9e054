#include "tidemill/machine/cpu_quota.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tidemill {

namespace {

namespace fs = std::filesystem;

/// A hierarchy of control groups that limits CPU time, where it is mounted.
struct Mount {
    bool is_v2;
    std::string root;  // the group that is mounted
    fs::path at;
};

std::optional<double> positive_number(const std::string& text) {
    std::istringstream words(text);
    double number = 0;
    if (!(words >> number) || !(number > 0)) return std::nullopt;
    return number;
}

std::string first_line(const fs::path& file) {
    std::string line;
    std::ifstream stream(file);
    std::getline(stream, line);
    return line;
}

bool names(const std::string& list, const std::string& wanted) {
    std::istringstream words(list);
    for (std::string word; std::getline(words, word, ',');)
        if (word == wanted) return true;
    return false;
}

// "31 23 0:28 /root /mounted/at rw,relatime shared:1 - cgroup cgroup rw,cpu,cpuacct": proc(5).
std::optional<Mount> parse_mount(const std::string& line) {
    std::istringstream words(line);
    std::string skipped, root, at, word, type, source, options;
    words >> skipped >> skipped >> skipped >> root >> at;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    const bool is_v2 = type == "cgroup2";
    if (!is_v2 && !(type == "cgroup" && names(options, "cpu"))) return std::nullopt;
    return Mount{is_v2, root, at};
}

std::vector<Mount> mounts_of(const fs::path& root) {
    std::vector<Mount> mounts;
    std::ifstream file(root / "proc/self/mountinfo");
    for (std::string line; std::getline(file, line);)
        if (const auto mount = parse_mount(line)) mounts.push_back(*mount);
    return mounts;
}

// "4:cpu,cpuacct:/some/group", or of v2 "0::/some/group": cgroups(7).
std::string group_in(const fs::path& root, const Mount& mount) {
    std::ifstream file(root / "proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const std::size_t number_end = line.find(':');
        const std::size_t list_end = line.find(':', number_end + 1);
        if (number_end == std::string::npos || list_end == std::string::npos) continue;
        const std::string list = line.substr(number_end + 1, list_end - number_end - 1);
        if (mount.is_v2 ? list.empty() : names(list, "cpu")) return line.substr(list_end + 1);
    }
    return "/";
}

// Quota of the one group whose files these are.
std::optional<double> quota_in(const fs::path& folder, bool is_v2) {
    constexpr double kPeriodUs = 100'000;  // where none is said
    std::string quota;
    std::string period;
    if (is_v2) {
        std::istringstream words(first_line(folder / "cpu.max"));
        words >> quota >> period;
    } else {
        quota = first_line(folder / "cpu.cfs_quota_us");
        period = first_line(folder / "cpu.cfs_period_us");
    }
    const std::optional<double> us = positive_number(quota);  // not of "max" and -1
    if (!us) return std::nullopt;
    return *us / positive_number(period).value_or(kPeriodUs);
}

// A container's files may show its own group as the mount's root, while its name is that outside.
fs::path folder_of(const fs::path& root, const Mount& mount) {
    const fs::path top = root / mount.at.relative_path();
    const fs::path group = fs::path(group_in(root, mount)).lexically_relative(mount.root);
    const bool is_below = !group.empty() && *group.begin() != "..";
    std::error_code no;
    return is_below && fs::is_directory(top / group, no) ? top / group : top;
}

}  // namespace

std::optional<double> cpu_quota(const fs::path& root) {
    std::optional<double> least;
    for (const Mount& mount : mounts_of(root)) {
        const fs::path top = (root / mount.at.relative_path()).lexically_normal();
        for (fs::path folder = folder_of(root, mount).lexically_normal();; folder = folder.parent_path()) {
            const std::optional<double> quota = quota_in(folder, mount.is_v2);
            if (quota) least = std::min(*quota, least.value_or(*quota));
            if (folder == top || folder == folder.parent_path()) break;
        }
    }
    return least;
}

std::size_t whole_cores(double quota) {
    constexpr double kMost = 1 << 20;
    return static_cast<std::size_t>(std::clamp(quota, 1.0, kMost));
}

}  // namespace tidemill
