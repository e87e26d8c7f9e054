#include "tidemill/tasks/call_sites.hpp"

#include <algorithm>
#include <string_view>

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
    sites_.push_back(site_of(place));
    return static_cast<policy::KernelId>(sites_.size() - 1);
}

std::string CallSites::name(policy::KernelId kernel) const {
    const std::string_view file = sites_[kernel].file;
    return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), sites_[kernel].line);
}

}  // namespace tidemill
