#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "tidemill/io/transport/ip_packet.hpp"
#include "tidemill/io/transport/mpe_receiver.hpp"

/// For any packets, the output is whole IP packets, whether they come at once or one by one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::io;
    std::vector<std::uint8_t> packets(data, data + size - size % kTsPacketBytes);
    std::uint64_t given = 0;
    const auto look = [&](std::span<const std::uint8_t> packet) {
        const auto header = parse_ip(packet);
        if (!header || header->bytes != packet.size()) std::abort();
        ++given;
    };
    MpeReceiver at_once({}, look), one_by_one({}, look);
    at_once.push(packets);
    for (std::size_t at = 0; at < packets.size(); at += kTsPacketBytes)
        one_by_one.push(std::span(packets).subspan(at, kTsPacketBytes));
    if (at_once.counts().packets != one_by_one.counts().packets) std::abort();
    if (given != 2 * at_once.counts().packets) std::abort();
    return 0;
}
