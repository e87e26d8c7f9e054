#include "tidemill/cli/command.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "tidemill/graph/graph_error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/platform/platform_error.hpp"
#include "tidemill/policy/policy_error.hpp"
#include "tidemill/run/frame_error.hpp"

namespace tidemill::cli {

namespace {

ExitStatus status_of(const std::exception& error) {
    const auto is = [&]<class... Kinds>() { return (dynamic_cast<const Kinds*>(&error) || ...); };
    if (is.operator()<WrongUsage, PlatformError, policy::PolicyError>()) return kWrongUsage;
    if (is.operator()<io::IoError, ScheduleError>()) return kUnusableInput;
    return kJobFailed;
}

}  // namespace

int run_command(const Command& chosen, const std::string& program) {
    try {
        return chosen();
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: {}\n", program, error.what());
        return status_of(error);
    }
}

}  // namespace tidemill::cli
