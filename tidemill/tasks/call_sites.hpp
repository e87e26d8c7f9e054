#pragma once

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include "tidemill/policy/policy.hpp"

namespace tidemill {

/// Numbers the places of a program's source, and kernels that it names, from 0 on.
class CallSites {
  public:
    /// The number of a place that was seen before; kUnknown otherwise.
    policy::KernelId find(const std::source_location& place);
    policy::KernelId add(const std::source_location& place);
    policy::KernelId add(std::string name);

    /// As it was named, or "file.cpp:12".
    const std::string& name(policy::KernelId kernel) const { return names_[kernel]; }

    static constexpr policy::KernelId kUnknown = policy::kNoTask;

  private:
    struct Site {
        const char* file = nullptr;
        std::uint32_t line = 0;
        std::uint32_t column = 0;

        bool operator==(const Site&) const = default;
    };
    struct Recent {
        Site site{};
        policy::KernelId kernel = kUnknown;
    };

    static Site site_of(const std::source_location& place) {
        return {place.file_name(), place.line(), place.column()};
    }
    Recent& recent(const Site& site) { return recent_[(site.line * 31 + site.column) % recent_.size()]; }

    policy::KernelId add(const Site& site, std::string name);

    std::vector<Site> sites_;  // per kernel; of those that were named, none
    std::vector<std::string> names_;
    std::array<Recent, 64> recent_{};
};

}  // namespace tidemill
