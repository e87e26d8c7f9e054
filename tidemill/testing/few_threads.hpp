#pragma once

#include <cstdlib>
#include <fstream>
#include <optional>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tidemill::testing {

/// While it lives, the system refuses all but a few more threads: the address space has no room for their
/// stacks.
class FewThreads {
  public:
    FewThreads() {
        getrlimit(RLIMIT_AS, &before_);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they need that space themselves
        constexpr rlim_t kRoom = rlim_t{64} << 20;
        rlim_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const rlimit tight{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kRoom, before_.rlim_max};
        setrlimit(RLIMIT_AS, &tight);
        void* const more = mmap(nullptr, 2 * kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        holds_ = more == MAP_FAILED;
        if (!holds_) munmap(more, 2 * kRoom);
#endif
    }
    ~FewThreads() {
        setrlimit(RLIMIT_AS, &before_);
    }
    FewThreads(const FewThreads&) = delete;
    FewThreads& operator=(const FewThreads&) = delete;

    /// Whether there is such a limit: not under a sanitizer, nor where an emulator does not keep it.
    bool holds() const {
        return holds_;
    }

  private:
    rlimit before_{};
    bool holds_ = false;
};

/// Does `work` in a process of a user that may have so many threads; returns its status as of waitpid(), 0
/// when all was well. None where the process cannot become another user.
template <class Work>
std::optional<int> status_under_limit(rlim_t threads, Work&& work) {
    constexpr uid_t kNobodyElse = 54321;
    constexpr unsigned kLongestSeconds = 30;
    if (geteuid() != 0) return std::nullopt;
    const pid_t child = fork();
    if (child == 0) {
        alarm(kLongestSeconds);
        const rlimit limit{threads, threads};
        const bool limited =
            setresuid(kNobodyElse, kNobodyElse, kNobodyElse) == 0 && setrlimit(RLIMIT_NPROC, &limit) == 0;
        _exit(limited && work() ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

}  // namespace tidemill::testing
