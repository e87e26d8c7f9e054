#include "tidemill/steer/bridge/command_child.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/base/cli_error.hpp"

namespace tidemill::cli {

namespace {

// In the child: waits to be let go, and is the command from then on; else reports why not.
[[noreturn]] void become(char* const* arguments, int go, int failed) {
    // The signals that this program has made errors of.
    for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
    char begin = 0;
    if (::read(go, &begin, 1) == 1) {
        execvp(arguments[0], arguments);
        const int error = errno;
        static_cast<void>(!::write(failed, &error, sizeof error));
    }
    _exit(127);
}

}  // namespace

CommandChild::CommandChild(const std::vector<std::string>& words) : name_(words.front()) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::array<int, 2> go{};
    std::array<int, 2> failed{};
    if (pipe2(go.data(), O_CLOEXEC) == 0 && pipe2(failed.data(), O_CLOEXEC) == 0) process_ = fork();
    if (process_ == 0) {
        close(go[1]);
        become(arguments.data(), go[0], failed[1]);
    }
    if (process_ < 0)
        throw JobFailed(
            fmt::format("{} cannot be started: {}", name_, std::generic_category().message(errno)));
    close(go[0]);
    close(failed[1]);
    go_ = go[1];
    failed_ = failed[0];
}

void CommandChild::go() {
    static_cast<void>(!::write(go_, "", 1));
    close(std::exchange(go_, -1));
    int error = 0;
    if (::read(failed_, &error, sizeof error) != sizeof error) return;
    throw JobFailed(fmt::format("{} cannot be started: {}", name_, std::generic_category().message(error)));
}

CommandChild::~CommandChild() {
    if (runs_) kill(process_, SIGTERM);
    for (const int descriptor : {go_, failed_})
        if (descriptor >= 0) close(descriptor);
}

void CommandChild::look() {
    int status = 0;
    for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
        if (ended == process_) note(status);
}

void CommandChild::note(int status) {
    runs_ = false;
    if (WIFSIGNALED(status)) failure_ = fmt::format("{} was ended by signal {}", name_, WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        failure_ = fmt::format("{} ended with exit status {}", name_, WEXITSTATUS(status));
}

void CommandChild::end() {
    constexpr auto kPatience = std::chrono::seconds(5);
    const auto last = std::chrono::steady_clock::now() + kPatience;
    look();
    if (!runs_) return;
    for (const int signal : {SIGTERM, SIGCONT}) kill(process_, signal);  // also where it is stopped
    while (runs_ && std::chrono::steady_clock::now() < last) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        look();
    }
    if (!runs_) return;
    kill(process_, SIGKILL);
    int status = 0;
    if (waitpid(process_, &status, 0) == process_) note(status);
}

}  // namespace tidemill::cli
