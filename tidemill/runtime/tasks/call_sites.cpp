#include "tidemill/runtime/tasks/call_sites.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tidemill {

policy::TaskTypeId CallSites::find(const std::source_location& place) {
    const Site site = site_of(place);
    Recent& seen = recent(site);
    if (seen.type != kUnknown && seen.site == site) return seen.type;
    const auto found = std::find(sites_.begin(), sites_.end(), site);
    if (found == sites_.end()) return kUnknown;
    seen = {site, static_cast<policy::TaskTypeId>(found - sites_.begin())};
    return seen.type;
}

policy::TaskTypeId CallSites::add(const std::source_location& place) {
    const std::string_view file = place.file_name();
    return add(site_of(place), fmt::format("{}:{}", file.substr(file.rfind('/') + 1), place.line()));
}

policy::TaskTypeId CallSites::add(std::string name) {
    return add(Site{}, std::move(name));
}

policy::TaskTypeId CallSites::add(const Site& site, std::string name) {
    sites_.push_back(site);
    names_.push_back(std::move(name));
    return static_cast<policy::TaskTypeId>(sites_.size() - 1);
}

}  // namespace tidemill
