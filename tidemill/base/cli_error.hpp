#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill::cli {

/// Exit status of a verb.
enum ExitStatus : int {
    kDone = 0,
    kJobFailed = static_cast<int>(Fault::job),
    kWrongUsage = static_cast<int>(Fault::usage),
    kUnusableInput = static_cast<int>(Fault::input),
    kEndedByPolicy = static_cast<int>(Fault::policy)
};

/// The job was understood and failed: no signal, a full disk.
struct JobFailed : Error {
    using Error::Error;
};

/// The job ended before its time, because --exit-on said so.
struct EndedByPolicy : Error {
    using Error::Error;
    Fault fault() const override { return Fault::policy; }
};

/// The command line asks for what cannot be.
struct WrongUsage : Error {
    using Error::Error;
    Fault fault() const override { return Fault::usage; }
};

}  // namespace tidemill::cli
