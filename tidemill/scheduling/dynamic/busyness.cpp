#include "tidemill/scheduling/dynamic/busyness.hpp"

namespace tidemill::policy {

namespace {

TypeBusyness sum_of(std::span<const TypeBusyness> types) {
    TypeBusyness sum;
    for (const TypeBusyness& type : types) {
        sum.busy_threads += type.busy_threads;
        sum.starved += type.starved;
        sum.not_starved += type.not_starved;
    }
    return sum;
}

}  // namespace

Verdict judge(std::span<const TypeBusyness> types) {
    const TypeBusyness all = sum_of(types);
    if (all.starved > 0 && 10 * all.starved >= all.not_starved) return {.master_too_slow = true};
    Verdict verdict;
    double least = 0.9 * all.mean();
    for (TaskTypeId k = 0; k < types.size(); ++k) {
        if (types[k].not_starved == 0) continue;
        const double mean = types[k].mean();
        if (verdict.bottleneck ? mean > least : mean >= least) continue;
        least = mean;
        verdict.bottleneck = k;
    }
    return verdict;
}

}  // namespace tidemill::policy
