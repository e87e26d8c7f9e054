#pragma once

#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

namespace tidemill::internal {

/// The exit status of a forked process that does this, or minus the signal that ended it. It has a minute.
template <class Work>
int status_of_child(Work work) {
    std::fflush(nullptr);  // else what waits to be written is written twice
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        work();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace tidemill::internal
