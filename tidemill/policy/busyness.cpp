#include "tidemill/policy/busyness.hpp"

namespace tidemill::policy {

namespace {

KernelBusyness sum_of(std::span<const KernelBusyness> kernels) {
    KernelBusyness sum;
    for (const KernelBusyness& kernel : kernels) {
        sum.busy_threads += kernel.busy_threads;
        sum.starved += kernel.starved;
        sum.not_starved += kernel.not_starved;
    }
    return sum;
}

}  // namespace

Verdict judge(std::span<const KernelBusyness> kernels) {
    const KernelBusyness all = sum_of(kernels);
    if (all.starved > 0 && 10 * all.starved >= all.not_starved) return {.master_too_slow = true};
    Verdict verdict;
    double least = 0.9 * all.mean();
    for (KernelId k = 0; k < kernels.size(); ++k) {
        if (kernels[k].not_starved == 0) continue;
        const double mean = kernels[k].mean();
        if (verdict.bottleneck ? mean > least : mean >= least) continue;
        least = mean;
        verdict.bottleneck = k;
    }
    return verdict;
}

}  // namespace tidemill::policy
