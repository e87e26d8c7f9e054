#include "tidemill/platform/side_by_side.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "tidemill/platform/start_thread.hpp"

namespace tidemill {

std::size_t cores_to_use() {
    return std::max(1U, std::thread::hardware_concurrency());
}

void side_by_side(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto fail = [&] {
        next = count;
        const std::scoped_lock lock(mutex);
        if (!failure) failure = std::current_exception();
    };
    const auto work_on = [&] {
        try {
            for (std::size_t k = next++; k < count; k = next++) work(k);
        } catch (...) {
            fail();
        }
    };
    {
        std::vector<std::jthread> others;
        try {
            for (std::size_t k = 1; k < std::min(threads, count); ++k)
                others.push_back(start_thread(work_on));
        } catch (...) {
            fail();
        }
        work_on();
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tidemill
