#pragma once

#include <cstdlib>
#include <string>

#include <sys/wait.h>

#include "tidemill/testing/test_places.hpp"

namespace tidemill::cli::internal {

/// A line of the shell in which $tidemill is the program; its exit status, or 128 + signal.
inline int run_shell(const std::string& line) {
    return WEXITSTATUS(std::system(("tidemill='" + program_path() + "'; " + line).c_str()));
}

}  // namespace tidemill::cli::internal
