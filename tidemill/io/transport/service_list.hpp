#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "tidemill/io/transport/ts_section.hpp"

namespace tidemill::io {

/// The names of a transport stream's services, from its service description table (EN 300 468, 5.2.3). They
/// come off the air: a viewer must take them for text of a stranger.
class ServiceList {
  public:
    static constexpr std::size_t kMostServices = 64;

    /// Whole packets.
    void look(std::span<const std::uint8_t> packets);

    /// Names in UTF-8 by service number; at most kMostServices.
    const std::map<int, std::string>& names() const { return names_; }

  private:
    void read(std::span<const std::uint8_t> table);

    SectionCollector sections_{};
    std::map<int, std::string> names_{};
};

}  // namespace tidemill::io
