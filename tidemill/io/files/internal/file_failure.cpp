#include "tidemill/io/files/internal/file_failure.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io::internal {

void fail_file(const char* action, const std::filesystem::path& path, int error) {
    const char* advice = error == ENOSPC   ? ": free some space or choose another place"
                         : error == EFBIG  ? ": the limit on the size of files is reached (ulimit -f)"
                         : error == EPIPE  ? ": the program that read this stream has ended"
                         : error == ENOENT ? ": check the name"
                                           : "";
    throw IoError(fmt::format("cannot {} '{}': {}{}", action, path.string(), std::strerror(error), advice));
}

}  // namespace tidemill::io::internal
