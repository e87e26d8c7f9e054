#include "tidemill/gpu/device/fastest_policy.hpp"

#include <chrono>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/stand_in.hpp"
#include "tidemill/gpu/device/testing/devices_for_tests.hpp"

using namespace tidemill;

namespace {

// Under `mapped` every byte comes in the kernel, which takes longer there.
StandInOptions slow_when_mapped(std::vector<MemoryPolicy> policies) {
    StandInOptions options;
    options.policies = std::move(policies);
    options.kernels["increment"] = {[](WorkSize, std::span<const KernelArgument> arguments) {
        const auto* memory = std::get<DeviceMemory*>(arguments[0]);
        const auto numbers = StandInDevice::as<std::uint32_t>(arguments[0]);
        if (memory->policy() == MemoryPolicy::mapped)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        for (std::uint32_t& number : numbers) ++number;
    }};
    return options;
}

}  // namespace

TEST_CASE("fastest policy: what is slower is not taken, and what the host cannot reach never is") {
    StandInDevice device(
        slow_when_mapped({MemoryPolicy::resident, MemoryPolicy::mapped, MemoryPolicy::pinned}));
    CHECK(fastest_policy(device, 65536) == MemoryPolicy::pinned);
}

TEST_CASE("fastest policy: what other programs add to more than half of the runs does not count") {
    StandInOptions options;
    options.policies = {MemoryPolicy::copy, MemoryPolicy::pinned};
    options.kernels["increment"] = {[run = 0](WorkSize, std::span<const KernelArgument> arguments) mutable {
        const auto* memory = std::get<DeviceMemory*>(arguments[0]);
        const bool is_disturbed = memory->policy() == MemoryPolicy::pinned && ++run % 5 > 1;
        const int ms = memory->policy() == MemoryPolicy::copy ? 10 : is_disturbed ? 40 : 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(ms));
        for (std::uint32_t& number : StandInDevice::as<std::uint32_t>(arguments[0])) ++number;
    }};
    StandInDevice device(std::move(options));
    CHECK(fastest_policy(device, 4096) == MemoryPolicy::pinned);
}

TEST_CASE("fastest policy: a device that the host reaches under none is refused by name") {
    StandInDevice device(slow_when_mapped({MemoryPolicy::resident}));
    CHECK(device::message_of([&] { fastest_policy(device, 4096); }) ==
          "stand-in: 4096 bytes come to it under none of its policies: resident");
    StandInOptions without_kernel;
    without_kernel.policies = {MemoryPolicy::copy};
    StandInDevice refuses(without_kernel);
    CHECK(
        device::message_of([&] {
            fastest_policy(refuses, 4096);
        }).starts_with("stand-in: 4096 bytes come to it under none of its policies: copy; copy: stand-in: "));
}

TEST_CASE("fastest policy: every device here has one") {
    device::on_all_devices([](const std::shared_ptr<Device>& device) {
        CHECK(device->info().has(fastest_policy(*device, 65536)));
    });
}
