#include "tidemill/gpu/device/increment_cost.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/increment.hpp"

namespace tidemill {
namespace {

double us_of(auto&& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

// The kernel with its buffer, step by step.
class Increments {
  public:
    Increments(Device& device, MemoryPolicy policy, std::size_t bytes)
        : device_(device),
          kernel_(device.kernel({device::increment_kernels(), ""}, "increment")),
          memory_(device.allocate(bytes, policy)),
          queue_(device.queue()) {}

    void write(std::uint32_t first) {
        const auto numbers = memory_->host_as<std::uint32_t>();
        std::iota(numbers.begin(), numbers.end(), first);
    }
    void send() { queue_->to_device(*memory_, memory_->bytes()); }
    void execute() {
        constexpr std::size_t kItems = 256;
        constexpr std::size_t kMostGroups = 2048;  // each item takes several numbers
        const std::size_t count = memory_->bytes() / 4;
        const KernelArgument arguments[] = {memory_.get(), static_cast<std::uint32_t>(count)};
        queue_->launch(*kernel_, {std::clamp(count / kItems, std::size_t{1}, kMostGroups), kItems},
                       arguments);
        wait("increment");
    }
    std::uint32_t fetch() {
        queue_->to_host(*memory_, memory_->bytes());
        wait("fetching");
        const auto numbers = memory_->host_as<std::uint32_t>();
        return std::accumulate(numbers.begin(), numbers.end(), 0U);
    }
    std::uint32_t sum_after(std::uint32_t first) const {
        const std::uint64_t count = memory_->bytes() / 4;
        return static_cast<std::uint32_t>(count * first + count * (count - 1) / 2);
    }

  private:
    void wait(const char* what) {
        wait_for(*queue_->mark(),
                 fmt::format("{}: {} of {} bytes", device_.info().id, what, memory_->bytes()));
    }

    Device& device_;
    std::unique_ptr<DeviceKernel> kernel_;
    std::unique_ptr<DeviceMemory> memory_;
    std::unique_ptr<DeviceQueue> queue_;
};

}  // namespace

IncrementCost increment_cost(Device& device, MemoryPolicy policy, std::size_t bytes, int runs) {
    Increments increments(device, policy, bytes);
    IncrementCost cost;
    if (policy == MemoryPolicy::resident) {
        increments.execute();
        for (int run = 0; run < runs; ++run) cost.second_us.push_back(us_of([&] { increments.execute(); }));
        return cost;
    }
    for (int run = -1; run < runs; ++run) {
        const auto first = static_cast<std::uint32_t>(run + 7);
        increments.write(first);
        std::uint32_t sum = 0;
        const double first_us = us_of([&] {
            increments.send();
            increments.execute();
        });
        const double second_us = us_of([&] { increments.execute(); });
        const double back_us = us_of([&] { sum = increments.fetch(); });
        if (sum != increments.sum_after(first + 2)) {
            throw DeviceError(fmt::format("{}: {} bytes of {} memory came back with wrong numbers",
                                          device.info().id, bytes, name(policy)));
        }
        if (run < 0) continue;
        cost.first_us.push_back(first_us);
        cost.second_us.push_back(second_us);
        cost.back_us.push_back(back_us);
    }
    return cost;
}

std::vector<double> launch_us(Device& device, int runs) {
    Increments increments(device, MemoryPolicy::copy, 4);
    increments.write(0);
    increments.send();
    increments.execute();
    std::vector<double> all;
    for (int run = 0; run < runs; ++run) all.push_back(us_of([&] { increments.execute(); }));
    return all;
}

}  // namespace tidemill
