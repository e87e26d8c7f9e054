#pragma once

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/testing/scratch_folder.hpp"
#include "tidemill/testing/test_places.hpp"

namespace tidemill::cli::internal {

/// How a program ended and what it said.
struct Ended {
    int status;  ///< exit status, or 128 + signal; 142 (SIGALRM) means that it hung
    std::string out;
    std::string err;
};

/// The built `tidemill` program, running: for the room's tests.
class Program {
  public:
    explicit Program(const std::vector<std::string>& arguments) {
        int ends[2];
        if (pipe(ends) != 0) throw std::runtime_error("no pipe");
        process_ = fork();
        if (process_ == 0) run(arguments, ends);
        ::close(ends[1]);
        output_ = ends[0];
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program() {
        close_output();
        if (process_ <= 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }

    /// Waits for so much standard output, or its end.
    void read_output(std::size_t bytes) {
        char block[4096];
        while (out_.size() < bytes) {
            const ssize_t got = ::read(output_, block, sizeof(block));
            if (got <= 0) return;
            out_.append(block, static_cast<std::size_t>(got));
        }
    }

    /// Ends the other side of its standard output.
    void close_output() {
        if (output_ >= 0) ::close(output_);
        output_ = -1;
    }

    void interrupt() { kill(process_, SIGINT); }

    /// Reads the rest of its output and waits for its end.
    Ended finish() {
        if (output_ >= 0) read_output(std::string::npos);
        int status = 0;
        waitpid(process_, &status, 0);
        process_ = -1;
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return {code, out_, ScratchFolder::content_of(folder_ / "stderr")};
    }

  private:
    [[noreturn]] void run(const std::vector<std::string>& arguments, const int (&ends)[2]) {
        constexpr unsigned kHungAfterSeconds = 300;  // far beyond any test, also under a sanitizer
        const int errors = ::open((folder_ / "stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(ends[1], STDOUT_FILENO);
        dup2(errors, STDERR_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        std::vector<char*> words{const_cast<char*>(program_path().c_str())};
        for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
        words.push_back(nullptr);
        alarm(kHungAfterSeconds);
        execv(program_path().c_str(), words.data());
        _exit(127);
    }

    ScratchFolder folder_;
    pid_t process_ = -1;
    int output_ = -1;
    std::string out_;
};

inline Ended run_program(const std::vector<std::string>& arguments) {
    return Program(arguments).finish();
}

/// `dvbs2 rx RECORDING --json MORE...`.
inline Ended receive_json(const std::string& recording, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"dvbs2", "rx", recording, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
}

/// The same in order on one thread: quicker where the schedule does not matter.
inline Ended receive_in_order(const std::string& recording, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--executor", "sequence"});
    return receive_json(recording, more);
}

inline bool says(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace tidemill::cli::internal
