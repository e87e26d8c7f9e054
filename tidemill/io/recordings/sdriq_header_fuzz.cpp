#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recordings/sdriq_header.hpp"
#include "tidemill/io/testing/memory_file.hpp"

/// Any file has a header that can be, or is an IoError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::io;
    const internal::MemoryFile file(data, size);
    try {
        const auto header = read_sdriq_header(file.path());
        if (size < SdriqHeader::kBytes || !(header.sample_rate_hz >= 1) || !(header.center_frequency_hz >= 0))
            std::abort();
    } catch (const IoError&) {
    }
    return 0;
}
