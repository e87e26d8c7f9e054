#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/machine/internal/energy_sensor.hpp"
#include "tidemill/machine/platform_error.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace tidemill::internal {

namespace {

std::string last_line(const std::string& path) {
    std::error_code unknown;  // is found by opening it
    if (std::filesystem::is_fifo(path, unknown))
        throw PlatformError(
            fmt::format("{}: a named pipe may never answer; write command:cat {}", path, path));
    errno = 0;
    std::ifstream file(path, std::ios::ate);
    constexpr std::streamoff kEnough = 4096;  // a log may be long
    file.seekg(std::max<std::streamoff>(file.tellg() - kEnough, 0));
    std::string end(kEnough, '\0');
    file.read(end.data(), kEnough);
    end.resize(static_cast<std::size_t>(file.gcount()));
    end.resize(std::min(end.find('\0'), end.size()));
    end.resize(end.find_last_not_of(" \t\r\n") + 1);
    if (!end.empty()) return end.substr(end.rfind('\n') + 1);
    throw PlatformError(fmt::format("{}: {}", path, errno != 0 ? std::strerror(errno) : "is empty"));
}

/// A shell command that prints readings; ends with this object.
class ReadingCommand {
  public:
    explicit ReadingCommand(std::string text) : text_(std::move(text)) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            throw PlatformError(fmt::format("{}: {}", text_, std::strerror(errno)));
        output_ = ends[0];
        const int error = spawn(ends[1]);
        close(ends[1]);
        if (error == 0) return;
        close(output_);
        throw PlatformError(fmt::format("{}: {}", text_, std::strerror(error)));
    }
    // The shell's own children are of its process group.
    ~ReadingCommand() {
        kill(-process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        close(output_);
    }
    ReadingCommand(const ReadingCommand&) = delete;
    ReadingCommand& operator=(const ReadingCommand&) = delete;

    /// The last whole line printed so far; waits only for the first one.
    const std::string& last_line() {
        constexpr int kFirstLineMs = 5000;
        constexpr int kMostReads = 32;  // more than a pipe holds: some commands never pause
        for (int reads = 0; reads < kMostReads; ++reads) {
            if (!wait_for_output(line_.empty() ? kFirstLineMs : 0)) break;
            take_output();
        }
        if (line_.empty()) throw PlatformError(fmt::format("{}: printed no line", text_));
        return line_;
    }

  private:
    int spawn(int to) {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        std::string shell = "sh";
        std::string flag = "-c";
        char* arguments[] = {shell.data(), flag.data(), text_.data(), nullptr};
        const int error = posix_spawn(&process_, "/bin/sh", &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }

    bool wait_for_output(int timeout_ms) const {
        pollfd wanted{output_, POLLIN, 0};
        return poll(&wanted, 1, timeout_ms) > 0;
    }

    void take_output() {
        char buffer[4096];
        const ssize_t size = ::read(output_, buffer, sizeof(buffer));
        if (size <= 0) throw PlatformError(fmt::format("{}: has ended", text_));
        unfinished_.append(buffer, static_cast<std::size_t>(size));
        const std::size_t end = unfinished_.rfind('\n');
        constexpr std::size_t kLongestLine = 1 << 16;
        if (end == std::string::npos && unfinished_.size() > kLongestLine) {
            throw PlatformError(fmt::format("{}: prints no lines", text_));
        }
        if (end == std::string::npos) return;
        const std::size_t before = end == 0 ? std::string::npos : unfinished_.rfind('\n', end - 1);
        const std::size_t begin = before == std::string::npos ? 0 : before + 1;
        line_ = unfinished_.substr(begin, end - begin);
        unfinished_.erase(0, end + 1);
    }

    std::string text_;
    int output_ = -1;
    pid_t process_ = -1;
    std::string unfinished_;
    std::string line_;
};

EnergySensor external_sensor(std::string name, const std::function<std::string()>& line) {
    const Measures measures = parse_reading(line(), name).measures;
    return {name, measures, [=] {
                const UnitReading reading = parse_reading(line(), name);
                if (reading.measures == measures) return reading.value;
                throw PlatformError(fmt::format("{}: changes between power and energy", name));
            }};
}

}  // namespace

std::vector<EnergySensor> file_sensors(const std::string& path) {
    return {external_sensor(path, [path] { return last_line(path); })};
}

std::vector<EnergySensor> command_sensors(const std::string& command) {
    const auto running = std::make_shared<ReadingCommand>(command);
    return {external_sensor(command, [running] { return running->last_line(); })};
}

}  // namespace tidemill::internal
