#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recordings/gnuradio_meta.hpp"
#include "tidemill/io/testing/memory_file.hpp"

/// Any file has segments that lie inside it, one behind the other, or none, or is an IoError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::io;
    const internal::MemoryFile file(data, size);
    try {
        const auto meta = read_gnuradio_meta(file.path());
        std::uint64_t at = 0;
        if (meta)
            for (const auto& segment : meta->segments) {
                if (segment.offset < at || segment.offset > size || segment.bytes > size - segment.offset)
                    std::abort();
                at = segment.offset + segment.bytes;
            }
    } catch (const IoError&) {
    }
    return 0;
}
