#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tidemill/io/files/tar_index.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/testing/memory_file.hpp"

/// Any file is an archive whose members lie inside it, or an IoError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::io;
    const internal::MemoryFile file(data, size);
    try {
        for (const TarMember& member : list_tar(file.path())) {
            if (member.offset > size || member.size > size - member.offset) std::abort();
        }
    } catch (const IoError&) {
    }
    return 0;
}
