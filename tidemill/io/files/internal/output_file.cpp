#include "tidemill/io/files/internal/output_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <ctime>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tidemill/io/files/internal/file_failure.hpp"
#include "tidemill/io/files/standard_stream.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::io::internal {
namespace {

constexpr mode_t kMode = 0666;  // less what the user's mask takes away

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

bool is_regular(int descriptor) {
    struct stat status {};
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

bool is_pipe(const std::filesystem::path& path) {
    std::error_code unknown;
    return !is_standard_stream(path) && std::filesystem::is_fifo(path, unknown);
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path)
    : path_(is_standard_stream(path) ? "standard output" : path),
      descriptor_(is_standard_stream(path) ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1) {
    if (!is_standard_stream(path)) open_file();
    if (descriptor_ < 0) fail_file("write to", path_, errno);
}

OutputFile::OutputFile(const std::filesystem::path& path, std::stop_token enough)
    : path_(path), is_late_(is_pipe(path)), enough_(std::move(enough)) {
    if (is_late_) return;
    OutputFile open(path);
    path_ = std::move(open.path_);
    std::swap(descriptor_, open.descriptor_);
    std::swap(before_, open.before_);
}

OutputFile::OutputFile(std::filesystem::path path, int descriptor, Before before)
    : path_(std::move(path)), descriptor_(descriptor), before_(before) {}

std::optional<OutputFile> OutputFile::make(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (descriptor >= 0) {
        OutputFile made(path, descriptor, Before::made);
        made.lock();
        return made;
    }
    if (errno != EEXIST) fail_file("write to", path, errno);
    return std::nullopt;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      is_late_(std::exchange(other.is_late_, false)),
      enough_(std::move(other.enough_)),
      ended_(std::exchange(other.ended_, -1)),
      before_(std::exchange(other.before_, Before::passed)) {}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (ended_ >= 0) ::close(ended_);
    if (before_ == Before::made) unlink(path_.c_str());
}

void OutputFile::open_file() {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (descriptor_ >= 0) {
        before_ = Before::made;
    } else if (errno == EEXIST) {
        // Created here too when the path is a link that leads to nothing yet.
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode);
        if (descriptor_ >= 0 && is_regular(descriptor_)) before_ = Before::kept;
    }
    lock();
}

// Two programs that write one file would each destroy what the other has written. (Some file systems have no
// locks.)
void OutputFile::lock() {
    if (descriptor_ < 0 || !is_regular(descriptor_)) return;
    if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    before_ = Before::passed;
    ::close(std::exchange(descriptor_, -1));
    throw IoError(
        fmt::format("'{}' is being written already: end that, or name another output", path_.string()));
}

// False while nobody reads the pipe.
bool OutputFile::open_late() {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor_ < 0 && errno != ENXIO && errno != EINTR) fail_file("write to", path_, errno);
    if (descriptor_ < 0) return false;
    is_late_ = false;
    return fcntl(descriptor_, F_SETFL, 0) == 0;
}

// The system sends no event when a reader comes.
void OutputFile::wait_until_open() {
    constexpr int kLook_ms = 20;
    while (!open_late()) {
        pollfd ended{ended_, POLLIN, 0};
        if (poll(&ended, 1, kLook_ms) > 0 || enough_.stop_requested())
            throw IoError(fmt::format("nobody has opened '{}' to read it", path_.string()));
    }
}

std::uint64_t OutputFile::go_on_at(std::uint64_t bytes, std::size_t piece) {
    if (!is_regular(descriptor_)) return bytes;
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) fail_file("look at", path_, errno);
    if (static_cast<std::uint64_t>(status.st_size) < bytes) {
        throw IoError(
            fmt::format("'{}' holds {} bytes, and held {} when the checkpoint was taken: it is another "
                        "file, or was not written to its end",
                        path_.string(), status.st_size, bytes));
    }
    before_ = Before::passed;
    if (piece > 0) bytes += (static_cast<std::uint64_t>(status.st_size) - bytes) / piece * piece;
    const auto place = static_cast<off_t>(bytes);
    if (ftruncate(descriptor_, place) != 0 || lseek(descriptor_, place, SEEK_SET) != place)
        fail_file("go on in", path_, errno);
    return bytes;
}

void OutputFile::begin() {
    if (before_ == Before::kept && ftruncate(descriptor_, 0) != 0) fail_file("empty", path_, errno);
    before_ = Before::passed;
}

void OutputFile::let_end() {
    if (ended_ < 0 && !is_regular(descriptor_)) ended_ = eventfd(0, EFD_CLOEXEC);
}

void OutputFile::end() noexcept {
    if (ended_ >= 0) eventfd_write(ended_, 1);
}

// As long as it takes, but not for long once it is enough.
void OutputFile::wait_for_reader() const {
    constexpr int kLook_ms = 50, kPatience_ms = 400;
    std::array<pollfd, 2> for_either{{{descriptor_, POLLOUT, 0}, {ended_, POLLIN, 0}}};
    for (int in_hurry_ms = 0; in_hurry_ms < kPatience_ms;) {
        const int ready = poll(for_either.data(), for_either.size(), enough_.stop_possible() ? kLook_ms : -1);
        if (ready > 0 && for_either[1].revents != 0) break;
        if (ready > 0) return;
        if (ready == 0 && enough_.stop_requested()) in_hurry_ms += kLook_ms;
    }
    throw IoError(fmt::format("'{}' took nothing for too long, and was given up", path_.string()));
}

bool OutputFile::may_be_given_up() const {
    return ended_ >= 0 || (enough_.stop_possible() && !is_regular(descriptor_));
}

// A disk that is full has taken a part of it: nobody wants the beginning of a packet.
void OutputFile::take_back(std::size_t written) noexcept {
    if (!is_regular(descriptor_)) return;
    const off_t place = lseek(descriptor_, 0, SEEK_CUR) - static_cast<off_t>(written);
    if (place < 0 || ftruncate(descriptor_, place) != 0) return;
    lseek(descriptor_, place, SEEK_SET);
    written_ -= static_cast<std::uint64_t>(written);
}

void OutputFile::write_all(std::span<const std::byte> bytes) {
    if (is_late_ && !bytes.empty()) wait_until_open();
    if (!bytes.empty()) begin();
    const SigpipeGuard guard;
    const bool looks = may_be_given_up();
    const std::size_t all = bytes.size();
    while (!bytes.empty()) {
        if (looks) wait_for_reader();
        // So much a pipe takes without waiting, once it takes anything.
        const std::size_t most = looks ? std::min<std::size_t>(bytes.size(), PIPE_BUF) : bytes.size();
        const auto written = ::write(descriptor_, bytes.data(), most);
        if (written >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(written));
            written_ += static_cast<std::uint64_t>(written);
        } else if (errno == EAGAIN) {
            wait_until_writable(descriptor_);
        } else if (errno != EINTR) {
            const int why = errno;
            take_back(all - bytes.size());
            fail_file("write to", path_, why);
        }
    }
}

void OutputFile::close(bool empties) {
    if (is_late_) open_late();  // the reader sees the end
    if (descriptor_ >= 0 && empties) begin();
    before_ = Before::passed;
    const int descriptor = std::exchange(descriptor_, -1);
    if (descriptor >= 0 && ::close(descriptor) != 0) {
        fail_file("finish writing", path_, errno);
    }
}

}  // namespace tidemill::io::internal
