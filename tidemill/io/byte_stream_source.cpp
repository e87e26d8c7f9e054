#include "tidemill/io/byte_stream_source.hpp"

#include <utility>

namespace tidemill::io {

ByteStreamSource::ByteStreamSource(const std::filesystem::path& place, dsp::SampleFormat format,
                                   std::optional<double> sample_rate_hz, SetUp set_up)
    : stream_(place), format_(format), sample_rate_hz_(sample_rate_hz), set_up_(std::move(set_up)) {}

std::size_t ByteStreamSource::read(std::span<std::byte> to) {
    const std::size_t size = dsp::bytes_per_sample(format_);
    to = to.first(to.size() - to.size() % size);
    std::size_t bytes = 0;
    do {
        const std::size_t got = stream_.read_some(to.subspan(bytes));
        if (got == 0) break;
        bytes += got;
    } while (bytes % size != 0);
    return bytes - bytes % size;
}

}  // namespace tidemill::io
