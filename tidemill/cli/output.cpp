#include "tidemill/cli/output.hpp"

#include <system_error>

#include <fmt/format.h>

namespace tidemill::cli {

void refuse_overwriting(const std::filesystem::path& output, const std::filesystem::path& input) {
    std::error_code missing;  // a file that is not there yet destroys nothing
    if (!std::filesystem::equivalent(output, input, missing)) return;
    throw WrongUsage(fmt::format("--output {} is the file that is read: choose another", output.string()));
}

}  // namespace tidemill::cli
