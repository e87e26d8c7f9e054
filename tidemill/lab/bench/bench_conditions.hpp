#pragma once

#include <string>

#include "tidemill/base/json.hpp"

namespace tidemill::cli {

/// Under which conditions a benchmark runs. Values that the system does not report are empty.
struct BenchConditions {
    std::string processor;        ///< the vendor's name of it
    int cores = 0;                ///< that this process may use
    int hardware_threads = 0;     ///< of those cores, usable
    std::string instruction_set;  ///< the best that kernels are compiled for and this machine has
    std::string frequency_governor;
    std::string kernel;      ///< of the operating system
    std::string scheduling;  ///< the class of this process, "fifo 10" behind `chrt -f 10`
    std::string allowed;     ///< hardware threads that this process may use, as the system numbers them
    double load = 0;         ///< threads that wanted to run, the mean of the last minute
    std::string commit;      ///< of the checkout that this program lies in
};

/// The conditions right now.
BenchConditions conditions_here();

/// One line or two.
std::string to_text(const BenchConditions& conditions);

/// One object with all of it; null where nothing is known.
Json to_json(const BenchConditions& conditions);

}  // namespace tidemill::cli
