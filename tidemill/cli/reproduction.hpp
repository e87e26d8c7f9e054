#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/cli/result_table.hpp"

namespace tidemill::cli {

/// How much of a published experiment to repeat.
struct ReproduceOptions {
    std::size_t chains = 1000;  ///< random chains per setting
    std::size_t timed = 50;     ///< random chains per measured run time
    std::uint64_t frames = 2000;
    std::uint64_t seed = 1;
};

/// A published table or figure that we make again.
struct Reproduction {
    std::string_view name;
    std::string_view summary;
    std::vector<ResultTable> (*make)(const ReproduceOptions& options);
};

// Of random chains.
std::vector<ResultTable> table1(const ReproduceOptions& options);
std::vector<ResultTable> fig5(const ReproduceOptions& options);
std::vector<ResultTable> fig6(const ReproduceOptions& options);
std::vector<ResultTable> fig7(const ReproduceOptions& options);

// Of the DVB-S2 receiver's chain.
std::vector<ResultTable> table3(const ReproduceOptions& options);
std::vector<ResultTable> fig11(const ReproduceOptions& options);
std::vector<ResultTable> fig13(const ReproduceOptions& options);
std::vector<ResultTable> fig14(const ReproduceOptions& options);

}  // namespace tidemill::cli
