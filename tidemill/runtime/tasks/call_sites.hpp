#pragma once

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {

/// Numbers the places of a program's source, and task types that it names, from 0 on.
class CallSites {
  public:
    /// The number of a place that was seen before; kUnknown otherwise.
    policy::TaskTypeId find(const std::source_location& place);
    policy::TaskTypeId add(const std::source_location& place);
    policy::TaskTypeId add(std::string name);

    /// As it was named, or "file.cpp:12".
    const std::string& name(policy::TaskTypeId type) const { return names_[type]; }

    static constexpr policy::TaskTypeId kUnknown = policy::kNoTask;

  private:
    struct Site {
        const char* file = nullptr;
        std::uint32_t line = 0;
        std::uint32_t column = 0;

        bool operator==(const Site&) const = default;
    };
    struct Recent {
        Site site{};
        policy::TaskTypeId type = kUnknown;
    };

    static Site site_of(const std::source_location& place) {
        return {place.file_name(), place.line(), place.column()};
    }
    Recent& recent(const Site& site) { return recent_[(site.line * 31 + site.column) % recent_.size()]; }

    policy::TaskTypeId add(const Site& site, std::string name);

    std::vector<Site> sites_;  // per task type; of those that were named, none
    std::vector<std::string> names_;
    std::array<Recent, 64> recent_{};
};

}  // namespace tidemill
