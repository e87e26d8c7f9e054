#pragma once

#include <cstddef>
#include <string>

namespace tidemill::cli {

/// How what `--executor auto` chooses is put to the test.
struct AutoBenchOptions {
    std::string filter{};     ///< programs whose names begin so
    int rounds = 4;           ///< in each of which every way runs once
    double seconds = 0.3;     ///< of each run
    std::size_t chains = 40;  ///< random ones
    bool json = false;
};

/// Runs a chain of ten tasks, a transmitter, the twelve StreamIt programs and random chains in every way
/// there is, in turn, and by whichever auto chooses. The best single way is picked on one half of the rounds
/// and judged on the other; auto runs twice in each round, and the second beside the first says what noise
/// is.
int run_auto_bench(const AutoBenchOptions& options);

}  // namespace tidemill::cli
