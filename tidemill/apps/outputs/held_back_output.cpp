#include "tidemill/apps/outputs/held_back_output.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tidemill::cli {

HeldBackOutput::HeldBackOutput() : file_(memfd_create("held-back", MFD_CLOEXEC)) {
    if (file_ < 0) return;
    std::fflush(nullptr);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        int& saved = streams_[static_cast<std::size_t>(stream - STDOUT_FILENO)];
        saved = dup(stream);
        if (saved >= 0) dup2(file_, stream);
    }
}

std::string HeldBackOutput::end() {
    if (file_ < 0) return {};
    std::fflush(nullptr);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        const int saved = std::exchange(streams_[static_cast<std::size_t>(stream - STDOUT_FILENO)], -1);
        if (saved < 0) continue;
        dup2(saved, stream);
        close(saved);
    }
    constexpr off_t kMost = 64 << 10;
    struct stat status {};
    const off_t size = fstat(file_, &status) == 0 ? status.st_size : 0;
    std::string written(static_cast<std::size_t>(std::min(size, kMost)), '\0');
    const ssize_t got = pread(file_, written.data(), written.size(), std::max<off_t>(0, size - kMost));
    written.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    close(std::exchange(file_, -1));
    return written;
}

}  // namespace tidemill::cli
