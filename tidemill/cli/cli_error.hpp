#pragma once

#include <string>
#include <string_view>

#include "tidemill/error.hpp"
#include "tidemill/schedule/schedule_error.hpp"

namespace tidemill::cli {

/// What a verb ends with.
enum ExitStatus : int { kDone = 0, kJobFailed = 1, kWrongUsage = 2, kUnusableInput = 3, kEndedByPolicy = 4 };

/// The job was understood and failed: no signal, a full disk.
struct JobFailed : Error {
    using Error::Error;
};

/// The job ended before its time, because --exit-on said so.
struct EndedByPolicy : Error {
    using Error::Error;
};

/// The command line asks for what cannot be.
struct WrongUsage : Error {
    using Error::Error;
};

/// What `read` returns; what it finds wrong is wrong usage of an option of the command line.
template <class Read>
auto usage_of(std::string_view option, Read read) {
    try {
        return read();
    } catch (const ScheduleError& error) {
        throw WrongUsage(std::string(option) + ": " + error.what());
    }
}

}  // namespace tidemill::cli
