#pragma once

#include <cstdint>
#include <string>

#include "tidemill/tuning/choose/run_config.hpp"

namespace tidemill::cli {

/// How forecasts are put to the test.
struct ForecastOptions {
    ExecutorKind executor = ExecutorKind::pipeline;  ///< or automatic
    int runs = 10;                                   ///< each with a profile of its own
    std::uint64_t packets = 300'000;                 ///< in the recording that is received
    std::string filter{};                            ///< only what begins so
    bool json = false;
};

/// Runs the receiver on a clean recording and on one near its threshold, a transmitter and a chain of ten
/// tasks, again and again, and reports how real periods compare with those that were predicted. Throws
/// JobFailed when a run fails, WrongUsage where nothing begins with the filter.
int run_forecast(const ForecastOptions& options);

}  // namespace tidemill::cli
