#include "tidemill/tasks/call_sites.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tidemill {

policy::KernelId CallSites::find(const std::source_location& place) {
    const Site site = site_of(place);
    Recent& seen = recent(site);
    if (seen.kernel != kUnknown && seen.site == site) return seen.kernel;
    const auto found = std::find(sites_.begin(), sites_.end(), site);
    if (found == sites_.end()) return kUnknown;
    seen = {site, static_cast<policy::KernelId>(found - sites_.begin())};
    return seen.kernel;
}

policy::KernelId CallSites::add(const std::source_location& place) {
    const std::string_view file = place.file_name();
    return add(site_of(place), fmt::format("{}:{}", file.substr(file.rfind('/') + 1), place.line()));
}

policy::KernelId CallSites::add(std::string name) {
    return add(Site{}, std::move(name));
}

policy::KernelId CallSites::add(const Site& site, std::string name) {
    sites_.push_back(site);
    names_.push_back(std::move(name));
    return static_cast<policy::KernelId>(sites_.size() - 1);
}

}  // namespace tidemill
