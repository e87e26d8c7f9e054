#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tidemill/io/live/vita49_stream.hpp"

/// For any datagrams, each is accounted for once, samples are whole and silence is as long as is reported.
/// The input is datagrams, each behind its length in two bytes. Rates at which a second's silence takes long
/// to give out are left out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::io;
    VitaStream stream({.any_class = size % 2 == 1});
    std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(data), size);
    std::array<std::byte, 4093> block;
    std::uint64_t datagrams = 0, bytes = 0;
    while (rest.size() >= 2) {
        const std::size_t said =
            std::to_integer<std::size_t>(rest[0]) << 8 | std::to_integer<std::size_t>(rest[1]);
        const auto one = rest.subspan(2, std::min(said, rest.size() - 2));
        rest = rest.subspan(2 + one.size());
        stream.take(one);
        ++datagrams;
        if (stream.sample_rate_hz() > 1e6) return 0;
        for (std::size_t got = stream.read(block); got > 0; got = stream.read(block)) bytes += got;
    }
    stream.finish();
    for (std::size_t got = stream.read(block); got > 0; got = stream.read(block)) bytes += got;
    const VitaCounts& counts = stream.counts();
    const std::uint64_t accounted = counts.data + counts.contexts + counts.cut + counts.other_kind +
                                    counts.other_class + counts.other_stream + counts.early +
                                    counts.other_form + counts.doubled + counts.late + counts.out_of_time;
    const std::uint64_t sample_bytes = tidemill::dsp::bytes_per_sample(stream.format());
    if (accounted != datagrams || bytes % sample_bytes != 0 ||
        bytes < (stream.losses().samples + counts.data) * sample_bytes)
        std::abort();
    return 0;
}
