#include "tidemill/io/files/internal/file.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tidemill/io/files/internal/file_failure.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::io::internal {

File::File(int descriptor, std::filesystem::path path) : descriptor_(descriptor), path_(std::move(path)) {}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(path_, other.path_);
    return *this;
}

File::~File() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

File File::open_regular(const std::filesystem::path& path) {
    // Non-blocking, because opening a named pipe would otherwise wait for a writer for ever.
    File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), path);
    if (file.descriptor_ < 0) {
        fail_file("open", path, errno);
    }
    struct stat status {};
    if (fstat(file.descriptor_, &status) != 0) {
        fail_file("examine", path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
        throw IoError(fmt::format("cannot read '{}': it is not a regular file", path.string()));
    }
    return file;
}

std::uint64_t File::size() const {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) {
        fail_file("examine", path_, errno);
    }
    return static_cast<std::uint64_t>(status.st_size);
}

std::size_t File::read_at(std::span<std::byte> to, std::uint64_t offset) const {
    std::size_t done = 0;
    while (done < to.size()) {
        const auto got =
            pread(descriptor_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
        if (got == 0) {
            break;
        }
        if (got > 0) {
            done += static_cast<std::size_t>(got);
        } else if (errno != EINTR) {
            fail_file("read", path_, errno);
        }
    }
    return done;
}

}  // namespace tidemill::io::internal
