#include "tidemill/io/live/input_stream.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tidemill/io/files/internal/file_failure.hpp"
#include "tidemill/io/files/standard_stream.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/rtl_tcp.hpp"
#include "tidemill/io/network/internal/tcp_opening.hpp"

namespace tidemill::io {
namespace {

constexpr std::string_view kConnects = "tcp";
constexpr std::string_view kListens = "tcp-listen";
constexpr std::uint16_t kRtlTcpPort = 1234;

bool has_scheme(const std::filesystem::path& path, std::string_view scheme) {
    return path.string().starts_with(std::string(scheme) + "://");
}

std::unique_ptr<internal::TcpOpening> opening_of(const std::filesystem::path& path) {
    using internal::TcpOpening;
    if (has_scheme(path, kConnects))
        return std::make_unique<TcpOpening>(TcpOpening::connect(parse_network_url(kConnects, path), path));
    if (is_rtl_tcp(path))
        return std::make_unique<TcpOpening>(
            TcpOpening::connect(parse_network_url("rtl_tcp", path, kRtlTcpPort), path));
    if (has_scheme(path, kListens))
        return std::make_unique<TcpOpening>(TcpOpening::listen(parse_network_url(kListens, path), path));
    return nullptr;
}

}  // namespace

bool InputStream::is_stream(const std::filesystem::path& path) {
    std::error_code missing;  // a missing file is reported when it is opened
    return is_standard_stream(path) || has_scheme(path, kConnects) || has_scheme(path, kListens) ||
           is_rtl_tcp(path) || std::filesystem::is_fifo(path, missing);
}

InputStream::InputStream(const std::filesystem::path& path)
    : path_(is_standard_stream(path) ? "standard input" : path),
      opening_(opening_of(path)),
      ended_(eventfd(0, EFD_CLOEXEC)) {
    if (ended_ < 0) internal::fail_file("open", path_, errno);
    if (opening_) return;
    descriptor_ =
        is_standard_stream(path) ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor_ >= 0) return;
    const int why = errno;
    ::close(ended_);
    internal::fail_file("open", path_, why);
}

InputStream::~InputStream() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
    ::close(ended_);
}

// False when no more is wanted, or nothing came.
bool InputStream::wait(std::chrono::milliseconds at_most) {
    while (opening_) {
        if (!is_ready(opening_->descriptor(), opening_->events(), at_most)) return false;
        descriptor_ = opening_->finish();
        if (descriptor_ >= 0) opening_.reset();
    }
    return is_readable(at_most);
}

bool InputStream::is_readable(std::chrono::milliseconds at_most) const {
    if (longest_silence_ == kForEver || (at_most != kForEver && at_most < longest_silence_))
        return is_ready(descriptor_, POLLIN, at_most);
    if (is_ready(descriptor_, POLLIN, longest_silence_)) return true;
    if (is_ended()) return false;
    throw IoError(fmt::format("nothing has come from '{}' for {} s: is another program using it?",
                              path_.string(), static_cast<double>(longest_silence_.count()) / 1000));
}

bool InputStream::is_ended() const {
    pollfd ended{ended_, POLLIN, 0};
    return poll(&ended, 1, 0) > 0;
}

bool InputStream::is_ready(int descriptor, short events, std::chrono::milliseconds at_most) const {
    std::array<pollfd, 2> for_either{{{descriptor, events, 0}, {ended_, POLLIN, 0}}};
    int ready = -1;
    while (ready < 0) {
        ready = poll(for_either.data(), for_either.size(), static_cast<int>(at_most.count()));
        if (ready < 0 && errno != EINTR) internal::fail_file("read", path_, errno);
    }
    return ready > 0 && for_either[1].revents == 0;
}

std::size_t InputStream::read_some(std::span<std::byte> to) {
    return read_some(to, kForEver);
}

std::size_t InputStream::read_some(std::span<std::byte> to, std::chrono::milliseconds patience) {
    while (wait(patience)) {
        const ssize_t got = ::read(descriptor_, to.data(), to.size());
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EAGAIN && errno != EINTR) internal::fail_file("read", path_, errno);
    }
    return 0;
}

std::size_t InputStream::read(std::span<std::byte> to) {
    return read(to, kForEver);
}

std::size_t InputStream::read(std::span<std::byte> to, std::chrono::milliseconds patience) {
    std::size_t done = 0;
    while (done < to.size()) {
        const std::size_t got = read_some(to.subspan(done), done == 0 ? kForEver : patience);
        if (got == 0) break;
        done += got;
    }
    return done;
}

void InputStream::tell(std::span<const std::byte> bytes) {
    const ssize_t said = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (said != static_cast<ssize_t>(bytes.size())) internal::fail_file("write to", path_, errno);
}

void InputStream::end() noexcept {
    eventfd_write(ended_, 1);
}

}  // namespace tidemill::io
