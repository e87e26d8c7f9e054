#include "tidemill/machine/side_by_side.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "tidemill/base/guard.hpp"
#include "tidemill/machine/cpu_quota.hpp"
#include "tidemill/machine/start_thread.hpp"

namespace tidemill {

std::size_t cores_to_use() {
    static const std::optional<double> quota = cpu_quota();
    const std::size_t all = std::max(1U, std::thread::hardware_concurrency());
    return quota ? std::min(all, whole_cores(*quota)) : all;
}

void side_by_side(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next{0};
    internal::FirstFailure failure;
    const auto guarded = [&](const auto& call) {
        if (failure.note(internal::thrown_by(call))) next = count;
    };
    const auto work_on = [&] {
        guarded([&] {
            for (std::size_t k = next++; k < count; k = next++) work(k);
        });
    };
    {
        std::vector<std::jthread> others;
        guarded([&] {
            for (std::size_t k = 1; k < std::min(threads, count); ++k)
                others.push_back(start_thread(work_on));
        });
        work_on();
    }
    failure.rethrow();
}

}  // namespace tidemill
