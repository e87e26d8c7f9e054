#include "tidemill/io/transport/service_list.hpp"

#include <algorithm>

#include "tidemill/io/transport/dvb_text.hpp"

namespace tidemill::io {
namespace {

// EN 300 468: table 1 for the PID, 5.2.3 for the table, 6.2.33 for the descriptor.
constexpr std::uint16_t kServicePid = 0x11;
constexpr std::uint8_t kActualStream = 0x42;
constexpr std::uint8_t kServiceDescriptor = 0x48;

using Bytes = std::span<const std::uint8_t>;

std::size_t twelve_bits(Bytes at) {
    return static_cast<std::size_t>(at[0] & 0x0f) << 8 | at[1];
}

}  // namespace

void ServiceList::look(Bytes packets) {
    for (; packets.size() >= kTsPacketBytes; packets = packets.subspan(kTsPacketBytes)) {
        const Bytes packet = packets.first(kTsPacketBytes);
        const bool damaged = (packet[1] & 0x80) != 0;
        if (damaged || pid_of(packet) != kServicePid) continue;
        sections_.add(packet);
        while (const auto table = sections_.next()) read(*table);
    }
}

void ServiceList::read(Bytes table) {
    constexpr std::size_t kHeader = 11, kCrc = 4;
    if (table[0] != kActualStream || table.size() < kHeader + kCrc) return;
    Bytes services = table.subspan(kHeader, table.size() - kHeader - kCrc);
    while (services.size() >= 5) {
        const int number = services[0] << 8 | services[1];
        const std::size_t length = std::min(twelve_bits(services.subspan(3)), services.size() - 5);
        Bytes descriptors = services.subspan(5, length);
        services = services.subspan(5 + length);
        for (; descriptors.size() >= 2; descriptors = descriptors.subspan(2 + std::size_t{descriptors[1]})) {
            if (descriptors.size() < 2 + std::size_t{descriptors[1]}) break;
            const Bytes body = descriptors.subspan(2, descriptors[1]);
            if (descriptors[0] != kServiceDescriptor || body.size() < 3) continue;
            const std::size_t provider = body[1];
            if (body.size() < provider + 3 || body.size() < provider + 3 + body[provider + 2]) continue;
            if (names_.size() < kMostServices || names_.contains(number))
                names_[number] = dvb_text(body.subspan(provider + 3, body[provider + 2]));
        }
    }
}

}  // namespace tidemill::io
