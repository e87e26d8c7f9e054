#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "tidemill/io/transport/service_list.hpp"
#include "tidemill/io/transport/ts_section.hpp"

namespace tidemill::io {

/// A service of a transport stream, and what it has had of its packets.
struct TsService {
    int number = 0;
    std::string name{};         ///< of a stranger: text, whatever is in it; empty while none has come
    std::uint64_t packets = 0;  ///< on the PIDs that are its own or that it shares
};

/// Services of a transport stream, with the number of packets of each: programme association and map tables
/// (ISO/IEC 13818-1, 2.4.4) assign the PIDs, the service description table gives the names. One thread looks;
/// any may ask.
class TsServices {
  public:
    static constexpr std::size_t kMostServices = ServiceList::kMostServices;

    /// Whole packets.
    void look(std::span<const std::uint8_t> packets);

    /// At most kMostServices, by number.
    std::vector<TsService> services() const;

  private:
    struct Programme {
        std::uint16_t map_pid = 0;
        SectionCollector sections{};
        std::vector<std::uint16_t> pids{};
    };

    void count(std::span<const std::uint8_t> packet);
    void read_association(std::span<const std::uint8_t> table);
    static void read_map(std::span<const std::uint8_t> table, Programme& programme);

    mutable std::mutex mutex_;
    ServiceList names_{};
    SectionCollector association_{};
    std::map<int, Programme> programmes_{};
    std::vector<std::uint64_t> packets_ = std::vector<std::uint64_t>(8192);  // by PID
};

}  // namespace tidemill::io
