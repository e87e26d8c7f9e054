#include "tidemill/lab/bench/own_runs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/lab/bench/child_program.hpp"

namespace tidemill::cli {

FolderForNow::FolderForNow(const char* what)
    : path_(std::filesystem::temp_directory_path() / fmt::format("tidemill-{}-{}", what, getpid())) {
    std::filesystem::create_directories(path_);
}

FolderForNow::~FolderForNow() {
    std::error_code left_there;
    std::filesystem::remove_all(path_, left_there);
}

std::string run_self(const std::vector<std::string>& arguments) {
    const Finished finished = run_child("/proc/self/exe", arguments);
    if (finished.status == 0) return finished.output;
    throw JobFailed(
        fmt::format("tidemill {} ended with status {}: {}", arguments[1], finished.status, finished.message));
}

}  // namespace tidemill::cli
