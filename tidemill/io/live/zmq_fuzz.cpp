#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tidemill/io/live/zmq_stream.hpp"

/// For any messages, each is taken or counted, samples are whole and silence is as long as is reported. The
/// input is messages, each behind its length in two bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill;
    io::ZmqStream stream(dsp::SampleFormat::ci16, 1e4, true);
    std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(data), size);
    std::array<std::byte, 4093> block;
    std::uint64_t messages = 0, bytes = 0;
    while (rest.size() >= 2) {
        const std::size_t said =
            std::to_integer<std::size_t>(rest[0]) << 8 | std::to_integer<std::size_t>(rest[1]);
        const auto one = rest.subspan(2, std::min(said, rest.size() - 2));
        rest = rest.subspan(2 + one.size());
        const auto header = io::parse_tag_header(one);
        if (header && header->bytes > one.size()) std::abort();
        stream.take(one);
        ++messages;
        for (std::size_t got = stream.read(block); got > 0; got = stream.read(block)) bytes += got;
    }
    if (stream.messages() + stream.not_taken() != messages || bytes % 4 != 0 ||
        bytes < (stream.losses().samples + stream.messages()) * 4 ||
        bytes > size + stream.losses().samples * 4)
        std::abort();
    return 0;
}
