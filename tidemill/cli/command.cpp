#include "tidemill/cli/command.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "tidemill/graph/graph_error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/platform/platform_error.hpp"
#include "tidemill/run/run_error.hpp"
#include "tidemill/schedule/error.hpp"

namespace tidemill::cli {

namespace {

int fail(ExitStatus status, const std::exception& error) {
    fmt::print(stderr, "tidemill: {}\n", error.what());
    return status;
}

}  // namespace

int run_command(const Command& chosen) {
    try {
        return chosen();
    } catch (const WrongUsage& error) {
        return fail(kWrongUsage, error);
    } catch (const PlatformError& error) {
        return fail(kWrongUsage, error);
    } catch (const io::IoError& error) {
        return fail(kUnusableInput, error);
    } catch (const ScheduleError& error) {
        return fail(kUnusableInput, error);
    } catch (const std::exception& error) {
        return fail(kJobFailed, error);
    }
}

}  // namespace tidemill::cli
