#include "tidemill/gpu/device/device.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "tidemill/gpu/device/device_error.hpp"

namespace tidemill {

bool DeviceInfo::has(MemoryPolicy policy) const {
    return std::ranges::find(policies, policy) != policies.end();
}

std::unique_ptr<DeviceMemory> Device::allocate(std::size_t bytes, MemoryPolicy policy) {
    if (!info_.has(policy)) {
        throw DeviceError(fmt::format("{} ({}) has no {} memory; it has: {}", info_.id, info_.name,
                                      name(policy), names(info_.policies)));
    }
    if (bytes == 0) throw DeviceError(fmt::format("{}: no memory of 0 bytes", info_.id));
    const bool moves = policy == MemoryPolicy::managed || policy == MemoryPolicy::prefetched;
    const std::size_t managed_bytes = moves ? managed_bytes_->fetch_add(bytes) + bytes : 0;
    const std::shared_ptr<void> managed(
        nullptr, [all = managed_bytes_, own = moves ? bytes : 0](void*) { all->fetch_sub(own); });
    if (managed_bytes > free_bytes() / 4) {
        throw DeviceMemoryError(
            fmt::format("{}: {} bytes of {} memory in all are more than a quarter of the {} that are free, "
                        "which can hang a device: use smaller batches, or another policy",
                        info_.id, managed_bytes, name(policy), free_bytes()));
    }
    const bool is_there = policy != MemoryPolicy::mapped && policy != MemoryPolicy::system;
    if (is_there && bytes > free_bytes()) {
        throw DeviceMemoryError(
            fmt::format("{}: {} bytes of {} memory are wanted, and {} are free: use smaller batches",
                        info_.id, bytes, name(policy), free_bytes()));
    }
    auto memory = allocate_checked(bytes, policy);
    memory->managed_ = managed;
    return memory;
}

void wait_for(DeviceEvent& event, const std::string& what, std::chrono::milliseconds limit) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    constexpr auto kAwake = std::chrono::microseconds(50);
    for (;;) {
        if (event.done()) return;
        const auto waited = Clock::now() - begin;
        if (waited > limit) {
            event.give_up();
            throw DeviceError(
                fmt::format("{}: not done after {} ms; the device hangs, or the work is too big: "
                            "use smaller batches",
                            what, limit.count()));
        }
        if (waited > kAwake) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

}  // namespace tidemill
