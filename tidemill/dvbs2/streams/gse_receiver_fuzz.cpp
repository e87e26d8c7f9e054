#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tidemill/dvbs2/streams/gse_receiver.hpp"
#include "tidemill/io/transport/ip_packet.hpp"

/// For any data fields, waiting fragments stay within their bounds, PDUs lie inside what was pushed, and
/// headers of IP packets inside them. The first byte gives the length of fields.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill;
    constexpr std::size_t kMostWaiting = 2000, kMostPdu = 65535;
    if (size == 0) return 0;
    std::uint64_t given = 0;
    dvbs2::GseReceiver receiver(
        [&](const dvbs2::GsePdu& pdu) {
            ++given;
            if (pdu.bytes.size() > kMostPdu || pdu.label.size() > 6) std::abort();
            const auto header = io::parse_ip(pdu.bytes);
            if (header && header->bytes > pdu.bytes.size()) std::abort();
        },
        {.bytes = kMostWaiting, .frames = 3});
    const std::size_t field = 8 + 4 * std::size_t{data[0]};
    for (std::span<const std::uint8_t> rest(data + 1, size - 1); !rest.empty();) {
        const std::size_t taken = std::min(field, rest.size());
        receiver.push(rest.first(taken));
        rest = rest.subspan(taken);
        if (receiver.waiting_bytes() > kMostWaiting) std::abort();
    }
    if (given != receiver.counts().pdus) std::abort();
    return 0;
}
