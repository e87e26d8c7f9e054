#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recordings/wav_header.hpp"
#include "tidemill/io/testing/memory_file.hpp"

/// Any file has samples that lie inside it, or is an IoError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::io;
    const internal::MemoryFile file(data, size);
    try {
        const auto header = read_wav_header(file.path());
        if (header.data_offset > size || header.data_bytes > size - header.data_offset) std::abort();
    } catch (const IoError&) {
    }
    return 0;
}
