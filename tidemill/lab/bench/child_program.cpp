#include "tidemill/lab/bench/child_program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/base/cli_error.hpp"

namespace tidemill::cli {

namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

class FileActions {
  public:
    FileActions() { posix_spawn_file_actions_init(&actions_); }
    ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;

    void duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_;
};

pid_t start(const std::string& program, const std::vector<std::string>& arguments,
            const FileActions& actions) {
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    pid_t child = 0;
    const int error = posix_spawnp(&child, program.c_str(), actions.get(), nullptr, pointers.data(), environ);
    if (error != 0) throw JobFailed(fmt::format("cannot run {}: {}", program, std::strerror(error)));
    return child;
}

std::string read_all(std::FILE* file, const std::function<void(const std::string&)>& line_came) {
    std::string all;
    std::string line;
    for (int c = std::getc(file); c != EOF; c = std::getc(file)) {
        all += static_cast<char>(c);
        if (c != '\n') {
            line += static_cast<char>(c);
            continue;
        }
        if (line_came) line_came(line);
        line.clear();
    }
    return all;
}

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Finished run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                   const std::function<void(const std::string& line)>& line_came) {
    int ends[2];
    const File messages(std::tmpfile(), &std::fclose);
    if (!messages || pipe2(ends, O_CLOEXEC) != 0) {
        throw JobFailed(fmt::format("cannot run {}: {}", program.string(), std::strerror(errno)));
    }
    const File output(fdopen(ends[0], "r"), &std::fclose);
    pid_t child = 0;
    {
        const File input_of_child(fdopen(ends[1], "w"), &std::fclose);
        FileActions actions;
        actions.duplicate(ends[1], STDOUT_FILENO);
        actions.duplicate(fileno(messages.get()), STDERR_FILENO);
        child = start(program, arguments, actions);
    }
    Finished finished{};
    finished.output = read_all(output.get(), line_came);
    finished.status = wait_for(child);
    std::rewind(messages.get());
    finished.message = read_all(messages.get(), {});
    return finished;
}

}  // namespace tidemill::cli
