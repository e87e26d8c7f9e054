#include "tidemill/io/internal/file.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io::internal {
namespace {

[[noreturn]] void fail(const char* action, const std::filesystem::path& path, int error) {
    const char* advice = error == ENOSPC   ? ": free some space or choose another place"
                         : error == EPIPE  ? ": the program that read this stream has ended"
                         : error == ENOENT ? ": check the name"
                                           : "";
    throw IoError(fmt::format("cannot {} '{}': {}{}", action, path.string(), std::strerror(error), advice));
}

// Turns the SIGPIPE of this thread's writes into EPIPE without touching the handlers of the process.
class SigpipeGuard {
  public:
    SigpipeGuard() {
        sigemptyset(&sigpipe_);
        sigaddset(&sigpipe_, SIGPIPE);
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE) == 1;
        pthread_sigmask(SIG_BLOCK, &sigpipe_, &previous_);
    }
    SigpipeGuard(const SigpipeGuard&) = delete;
    SigpipeGuard& operator=(const SigpipeGuard&) = delete;
    ~SigpipeGuard() {
        const timespec no_wait{};
        while (!was_pending_ && sigtimedwait(&sigpipe_, nullptr, &no_wait) < 0 && errno == EINTR) {
        }
        pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
    }

  private:
    sigset_t sigpipe_{};
    sigset_t previous_{};
    bool was_pending_ = false;
};

// Standard output may be non-blocking when a terminal or a parent made it so.
void wait_until_writable(int descriptor) {
    pollfd poll_for{descriptor, POLLOUT, 0};
    poll(&poll_for, 1, -1);
}

}  // namespace

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
        fail("open", path, errno);
    }
    struct stat status {};
    if (fstat(file.descriptor_, &status) != 0) {
        fail("examine", path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
        throw IoError(fmt::format("cannot read '{}': it is not a regular file", path.string()));
    }
    return file;
}

File File::open_for_writing(const std::filesystem::path& path) {
    const bool standard_output = path == "-";
    const int descriptor = standard_output
                               ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                               : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        fail("write to", path, errno);
    }
    return {descriptor, standard_output ? "standard output" : path};
}

std::uint64_t File::size() const {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) {
        fail("examine", path_, errno);
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
            fail("read", path_, errno);
        }
    }
    return done;
}

void File::write_all(std::span<const std::byte> bytes) {
    const SigpipeGuard guard;
    while (!bytes.empty()) {
        const auto written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            wait_until_writable(descriptor_);
        } else if (errno != EINTR) {
            fail("write to", path_, errno);
        }
    }
}

void File::close() {
    const int descriptor = std::exchange(descriptor_, -1);
    if (descriptor >= 0 && ::close(descriptor) != 0) {
        fail("finish writing", path_, errno);
    }
}

}  // namespace tidemill::io::internal
