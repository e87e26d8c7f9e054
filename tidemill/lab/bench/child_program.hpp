#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tidemill::cli {

/// How a program ended.
struct Finished {
    int status;           ///< its exit status, or 128 plus the signal that ended it
    std::string output;   ///< standard output
    std::string message;  ///< standard error
};

/// Runs a program to its end, telling each line of its standard output as it comes. Throws JobFailed when it
/// cannot be started.
Finished run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                   const std::function<void(const std::string& line)>& line_came = {});

}  // namespace tidemill::cli
