#include "tidemill/gpu/device/device.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>

#include <doctest/doctest.h>

#include "tidemill/gpu/device/cuda_devices.hpp"
#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/device_list.hpp"
#include "tidemill/gpu/device/increment.hpp"
#include "tidemill/gpu/device/opencl_devices.hpp"
#include "tidemill/gpu/device/testing/devices_for_tests.hpp"

using namespace tidemill;
using device::message_of;

namespace {

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Increments what the host has written, twice, and reads it.
void check_two_increments(Device& device, MemoryPolicy policy) {
    constexpr std::uint32_t kCount = 5000;
    CAPTURE(std::string(name(policy)));
    const auto kernel = device.kernel({device::increment_kernels(), ""}, "increment");
    const auto memory = device.allocate(4 * kCount, policy);
    const auto numbers = memory->host_as<std::uint32_t>();
    const auto queue = device.queue();
    for (std::uint32_t round = 0; round < 3; ++round) {
        std::iota(numbers.begin(), numbers.end(), round);
        queue->to_device(*memory, memory->bytes());
        const KernelArgument arguments[] = {memory.get(), kCount};
        for (int execution = 0; execution < 2; ++execution) queue->launch(*kernel, {7, 64}, arguments);
        queue->to_host(*memory, memory->bytes());
        wait_for(*queue->mark(), "increment");
        CHECK(numbers.front() == round + 2);
        CHECK(numbers.back() == round + kCount + 1);
        CHECK(std::ranges::adjacent_find(numbers, [](auto a, auto b) { return b != a + 1; }) ==
              numbers.end());
    }
}

}  // namespace

TEST_CASE("where there is no driver and no loader, that is the reason why there is no device") {
    const FoundDevices cuda = device::find_cuda_devices("libtidemill-nothing.so.1");
    const FoundDevices opencl = device::find_opencl_devices("libtidemill-nothing.so.1");
    CHECK(cuda.devices.empty());
    CHECK(opencl.devices.empty());
    REQUIRE(cuda.absent.size() == 1);
    REQUIRE(opencl.absent.size() == 1);
    CHECK(says(cuda.absent[0], "cuda: no driver (libtidemill-nothing.so.1: "));
    CHECK(says(opencl.absent[0], "opencl: no loader (libtidemill-nothing.so.1: "));
    CHECK(says(describe(cuda), "none      cuda: no driver"));
}

TEST_CASE("a library that is something else is no driver, and its missing function is named") {
    for (const FoundDevices& found :
         {device::find_cuda_devices("libm.so.6"), device::find_opencl_devices("libm.so.6")}) {
        REQUIRE(found.absent.size() == 1);
        CHECK(says(found.absent[0], "libm.so.6 has no function c"));
    }
}

TEST_CASE("a device that is not there is refused with those that are, or the reasons why there is none") {
    const std::string message = message_of([] { open_device("cuda:99"); });
    CHECK(says(message, "device 'cuda:99': there is n"));
    for (const FoundDevice& device : find_devices().devices) CHECK(says(message, device.info.id));
}

TEST_CASE("memory policies have names, and a wrong one is refused with those that there are") {
    for (const MemoryPolicy policy : memory_policies())
        CHECK(memory_policy(name(policy), memory_policies()) == policy);
    const MemoryPolicy few[] = {MemoryPolicy::copy, MemoryPolicy::mapped};
    CHECK(message_of([&] { memory_policy("pinned", few); }) ==
          "memory policy 'pinned': choose one of copy, mapped");
}

TEST_CASE("every device here increments what the host writes, under each of its policies") {
    device::on_all_devices([](const std::shared_ptr<Device>& device) {
        for (const MemoryPolicy policy : device->info().policies) {
            if (policy != MemoryPolicy::resident) check_two_increments(*device, policy);
        }
    });
}

TEST_CASE("every device takes rows that lie apart on the host as one copy, from any row on") {
    device::on_all_devices([](const std::shared_ptr<Device>& device) {
        constexpr std::size_t kRow = 96, kPitch = 128, kRows = 5;
        std::vector<std::uint32_t> apart(kRows * kPitch / 4);
        std::iota(apart.begin(), apart.end(), 1000U);
        for (const MemoryPolicy policy : {MemoryPolicy::copy, MemoryPolicy::pinned}) {
            const auto memory = device->allocate((kRows + 2) * kRow, policy);
            const auto queue = device->queue();
            std::ranges::fill(memory->host_as<std::uint32_t>(), 7U);
            queue->to_device(*memory, memory->bytes());
            queue->to_device(*memory, 2 * kRow,
                             {std::as_bytes(std::span(apart)).data(), kPitch, kRow, kRows});
            queue->to_host(*memory, memory->bytes());
            wait_for(*queue->mark(), "rows");
            const auto words = memory->host_as<std::uint32_t>();
            for (std::size_t i = 0; i < words.size(); ++i) {
                const std::size_t row = i / (kRow / 4), column = i % (kRow / 4);
                CHECK(words[i] == (row < 2 ? 7 : 1000 + (row - 2) * kPitch / 4 + column));
            }
        }
    });
}

TEST_CASE("every device refuses by name a policy that it lacks, memory of no bytes, a kernel it has not") {
    device::on_all_devices([](const std::shared_ptr<Device>& device) {
        for (const MemoryPolicy policy : memory_policies()) {
            if (device->info().has(policy)) continue;
            CHECK(says(message_of([&] { device->allocate(64, policy); }),
                       " memory; it has: " + names(device->info().policies)));
        }
        CHECK(says(message_of([&] { device->allocate(0, MemoryPolicy::copy); }), "no memory of 0 bytes"));
        CHECK(says(message_of([&] {
                       device->kernel({device::increment_kernels(), ""}, "decrement");
                   }),
                   device->info().id + ": "));
    });
}

TEST_CASE("a compiler that refuses a kernel is quoted, however much it says") {
    std::string text = "__kernel void wrong() {\n";
    for (int line = 0; line < 15; ++line) text += "    unknown_" + std::string(1000, 'x') + ";\n";
    text += "}\n";
    const KernelSource source{.name = "wrong", .opencl = text, .ptx = {}};
    device::on_all_devices([&](const std::shared_ptr<Device>& device) {
        if (!device->info().id.starts_with("opencl")) return;  // no PTX is made of this kernel
        CHECK(says(message_of([&] { device->kernel({source, ""}, "wrong"); }), "unknown_xxx"));
    });
}

TEST_CASE("a kernel that takes too long is given up within its limit, and nothing waits for it any more") {
    static constexpr KernelSource kSpins{
        .name = "spin",
        .opencl =
            "__kernel void spin(__global uint* numbers, uint rounds) {"
            "    uint x = numbers[0];"
            "    for (uint i = 0; i < rounds; ++i) x = x * 1664525u + (x >> 7) + i;"
            "    numbers[0] = x;"
            "}",
        .ptx = {}};
    static constexpr std::uint32_t kSomeSeconds = 2'000'000'000;
    device::on_all_devices([&](const std::shared_ptr<Device>& device) {
        if (!device->info().id.starts_with("opencl")) return;  // no PTX is made of this kernel
        for (const MemoryPolicy policy : {MemoryPolicy::copy, MemoryPolicy::mapped}) {
            auto begin = std::chrono::steady_clock::now();
            {
                const auto own = open_device(device->info().id);  // is of no use afterwards
                const auto kernel = own->kernel({kSpins, ""}, "spin");
                const auto memory = own->allocate(4, policy);
                const auto queue = own->queue();
                queue->to_device(*memory, 4);
                const KernelArgument arguments[] = {memory.get(), kSomeSeconds};
                begin = std::chrono::steady_clock::now();
                queue->launch(*kernel, {1, 1}, arguments);
                CHECK(
                    says(message_of([&] { wait_for(*queue->mark(), "spin", std::chrono::milliseconds(50)); }),
                         "spin: not done after 50 ms; the device hangs"));
            }
            CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1500));
        }
    });
}
