#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recordings/sigmf.hpp"

/// Any text is metadata or an IoError, and metadata that were written say the same when read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::io;
    try {
        const auto read = parse_sigmf({reinterpret_cast<const char*>(data), size}, "fuzz.sigmf-meta");
        const auto again = parse_sigmf(format_sigmf(read), "again.sigmf-meta");
        if (again.format != read.format || again.sample_rate_hz != read.sample_rate_hz) std::abort();
    } catch (const IoError&) {
    }
    return 0;
}
