#include "tidemill/lab/bench/bench_chains.hpp"

#include <utility>

#include <fmt/format.h>

namespace tidemill::cli {

Chain ten_tasks() {
    Chain chain{{"any"}, {}};
    for (const auto& [weight_us, replicable] : std::vector<std::pair<double, bool>>{{20, false},
                                                                                    {25, true},
                                                                                    {60, false},
                                                                                    {15, true},
                                                                                    {40, true},
                                                                                    {75, false},
                                                                                    {30, true},
                                                                                    {10, true},
                                                                                    {35, true},
                                                                                    {20, false}})
        chain.tasks.push_back({fmt::format("task{}", chain.tasks.size() + 1), replicable, {weight_us}});
    return chain;
}

}  // namespace tidemill::cli
