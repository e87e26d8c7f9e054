#include "tidemill/io/transport/rtp_packetizer.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::io {

TEST_CASE("RTP: version 2, payload type 33, sequence and time stamps that go on and wrap around") {
    RtpPacketizer rtp({.source = 0x01020304, .sequence = 0xffff, .timestamp = 0xfffffff0});
    const std::vector<std::uint8_t> packets(kNullPacket.begin(), kNullPacket.end());
    const auto header = [](std::span<const std::uint8_t> packet) {
        return std::vector<std::uint8_t>(packet.begin(), packet.begin() + RtpPacketizer::kHeaderBytes);
    };
    const auto first = rtp.packet(packets, 0);
    CHECK(first.size() == RtpPacketizer::kHeaderBytes + kTsPacketBytes);
    CHECK(header(first) ==
          std::vector<std::uint8_t>{0x80, 33, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf0, 1, 2, 3, 4});
    CHECK(header(rtp.packet(packets, 0.001)) ==
          std::vector<std::uint8_t>{0x80, 33, 0, 0, 0, 0, 0, 90 - 16, 1, 2, 3, 4});
    CHECK(rtp.packet(packets, 0.002, true)[1] == (0x80 | 33));
    // After twelve weeks, too: 90,000 a second, modulo 2^32.
    const auto late = header(rtp.packet(packets, 7257600.5));
    const std::uint32_t stamp = std::uint32_t{late[4]} << 24 | late[5] << 16 | late[6] << 8 | late[7];
    CHECK(stamp == static_cast<std::uint32_t>(std::uint64_t{0xfffffff0} + 90'000ULL * 7257600 + 45'000));
}

}  // namespace tidemill::io
