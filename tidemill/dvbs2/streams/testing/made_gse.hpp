#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/io/transport/crc32.hpp"

namespace tidemill::dvbs2::internal {

/// Encapsulates packets for tests, as TS 102 606-1, 4.2 says.
class GseMaker {
  public:
    using Bytes = std::vector<std::uint8_t>;

    static constexpr std::uint8_t kStart = 0x80, kEnd = 0x40;

    /// A label of 0, 3 or 6 bytes goes before every PDU.
    explicit GseMaker(Bytes label = {}) : label_(std::move(label)) {}

    /// In one packet.
    Bytes whole(std::uint16_t protocol, std::span<const std::uint8_t> pdu) const {
        return packet(kStart | kEnd | label_type(), body(protocol, pdu));
    }

    /// In several, of so many bytes of it each.
    std::vector<Bytes> fragments(std::uint8_t number, std::uint16_t protocol,
                                 std::span<const std::uint8_t> pdu, std::size_t bytes_each) const {
        Bytes all = body(protocol, pdu);
        const std::uint8_t total[] = {static_cast<std::uint8_t>(all.size() >> 8),
                                      static_cast<std::uint8_t>(all.size())};
        const std::uint32_t crc = io::crc32_mpeg(all, io::crc32_mpeg(total));
        for (int shift = 24; shift >= 0; shift -= 8) all.push_back(static_cast<std::uint8_t>(crc >> shift));
        std::vector<Bytes> packets;
        for (std::size_t at = 0; at < all.size(); at += bytes_each) {
            const std::size_t size = std::min(bytes_each, all.size() - at);
            Bytes part{number};
            if (at == 0) part.insert(part.end(), total, total + 2);
            part.insert(part.end(), all.begin() + static_cast<std::ptrdiff_t>(at),
                        all.begin() + static_cast<std::ptrdiff_t>(at + size));
            const bool last = at + size == all.size();
            packets.push_back(packet(at == 0 ? kStart | label_type() : last ? kEnd | 0x30 : 0x30, part));
        }
        return packets;
    }

    static Bytes packet(int flags, const Bytes& body) {
        Bytes packet{static_cast<std::uint8_t>(flags | body.size() >> 8),
                     static_cast<std::uint8_t>(body.size())};
        packet.insert(packet.end(), body.begin(), body.end());
        return packet;
    }

  private:
    int label_type() const { return label_.size() == 6 ? 0 : label_.size() == 3 ? 0x10 : 0x20; }

    Bytes body(std::uint16_t protocol, std::span<const std::uint8_t> pdu) const {
        Bytes body{static_cast<std::uint8_t>(protocol >> 8), static_cast<std::uint8_t>(protocol)};
        body.insert(body.end(), label_.begin(), label_.end());
        body.insert(body.end(), pdu.begin(), pdu.end());
        return body;
    }

    Bytes label_;
};

}  // namespace tidemill::dvbs2::internal
