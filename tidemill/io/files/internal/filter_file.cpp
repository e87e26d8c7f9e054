#include "tidemill/io/files/internal/filter_file.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/io/files/internal/file_failure.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::io::internal {

FilterFile::FilterFile(const std::filesystem::path& path, const char* program)
    : path_(path), program_(program) {
    begin_anew();
}

FilterFile::~FilterFile() {
    stop();
}

void FilterFile::begin_anew() {
    stop();
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) fail_file("read", path_, errno);
    from_ = pipe[0];
    try {
        start(pipe[1]);
    } catch (...) {
        ::close(pipe[1]);
        throw;
    }
    ::close(pipe[1]);
}

// In a group of its own: what Ctrl-C ends in order needs it until then.
void FilterFile::start(int to) {
    File::open_regular(path_);  // throws for anything else
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, path_.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::string name = program_, option = "-dc";
    const std::array<char*, 3> arguments{name.data(), option.data(), nullptr};
    const int error = posix_spawnp(&process_, program_, &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error == 0) return;
    process_ = -1;
    throw IoError(fmt::format("'{}' is compressed: {} is needed to read it and cannot be run: {}",
                              path_.string(), program_, std::strerror(error)));
}

void FilterFile::stop() noexcept {
    if (from_ >= 0) ::close(std::exchange(from_, -1));
    if (process_ < 0) return;
    ::kill(process_, SIGTERM);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
}

std::size_t FilterFile::read(std::span<std::byte> to) {
    std::size_t done = 0;
    while (done < to.size() && process_ >= 0) {
        const ssize_t got = ::read(from_, to.data() + done, to.size() - done);
        if (got < 0 && errno != EINTR) fail_file("read", path_, errno);
        if (got > 0) done += static_cast<std::size_t>(got);
        if (got == 0) check_end();
    }
    return done;
}

void FilterFile::check_end() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    throw IoError(fmt::format("'{}' is damaged or cut off, or not what its name says: {} cannot unpack it",
                              path_.string(), program_));
}

}  // namespace tidemill::io::internal
