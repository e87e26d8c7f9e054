#include "tidemill/cli/bridge/command_child.hpp"

#include <csignal>
#include <system_error>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/cli/cli_error.hpp"

namespace tidemill::cli {

namespace {

/// The command begins with the signals that this program has made errors of.
class PlainSignals {
  public:
    PlainSignals() {
        posix_spawnattr_init(&attributes_);
        sigset_t plain;
        sigemptyset(&plain);
        for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&plain, signal);
        posix_spawnattr_setsigdefault(&attributes_, &plain);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
    }
    ~PlainSignals() { posix_spawnattr_destroy(&attributes_); }
    PlainSignals(const PlainSignals&) = delete;
    PlainSignals& operator=(const PlainSignals&) = delete;

    const posix_spawnattr_t* get() const { return &attributes_; }

  private:
    posix_spawnattr_t attributes_{};
};

}  // namespace

CommandChild::CommandChild(const std::vector<std::string>& words) : name_(words.front()) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const PlainSignals signals;
    const int error =
        posix_spawnp(&process_, name_.c_str(), nullptr, signals.get(), arguments.data(), environ);
    if (error != 0)
        throw JobFailed(
            fmt::format("{} cannot be started: {}", name_, std::generic_category().message(error)));
}

CommandChild::~CommandChild() {
    if (runs_) kill(process_, SIGTERM);
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
    look();
    if (!runs_) return;
    kill(process_, SIGTERM);
    int status = 0;
    if (waitpid(process_, &status, 0) == process_) note(status);
}

}  // namespace tidemill::cli
