#include "tidemill/gpu/device/cuda_devices.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <string>

#include <doctest/doctest.h>

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/increment.hpp"
#include "tidemill/gpu/device/increment_cost.hpp"
#include "tidemill/gpu/device/internal/cuda_driver.hpp"
#include "tidemill/gpu/device/testing/devices_for_tests.hpp"

using namespace tidemill;
using device::message_of;

namespace {

// A driver of this program's own, found like NVIDIA's, with one GPU whose memory is the host's. What it is
// asked for is done at once.
struct FakeDriver {
    std::map<std::string, int> failures{};  // by function, which status
    int gpus = 1;
    int lost_gpu = -1;
    int capability = 90;
    bool has_managed = true;
    bool has_pageable = false;
    bool is_never_done = false;
    std::size_t free_bytes = std::size_t{1} << 30U;
    int alive = 0;         // what was made and not yet given back
    int synchronized = 0;  // calls that wait for the GPU
    unsigned local_bytes_allowed = 0;

    int called(const char* function) const {
        const auto found = failures.find(function);
        return found == failures.end() ? 0 : found->second;
    }
};

FakeDriver driver;

int made(const char* function, void** handle) {
    if (const int failure = driver.called(function)) return failure;
    ++driver.alive;
    *handle = std::malloc(1);
    return 0;
}

int given_back(void* handle) {
    --driver.alive;
    std::free(handle);
    return 0;
}

int allocated(const char* function, void** begin, std::size_t bytes) {
    if (const int failure = driver.called(function)) return failure;
    ++driver.alive;
    *begin = std::malloc(bytes);
    return 0;
}

FoundDevices found_here() {
    return device::find_cuda_devices("");
}

KernelVariant increment_variant() {
    static constexpr PtxImage kImages[] = {{70, "", "for 7.0"}, {80, "", "for 8.0"}};
    return {{"increment", "", kImages}, ""};
}

}  // namespace

extern "C" {
int cuInit(unsigned) {
    return driver.called("cuInit");
}
int cuDriverGetVersion(int* version) {
    *version = 12040;
    return 0;
}
int cuDeviceGetCount(int* count) {
    *count = driver.gpus;
    return 0;
}
int cuDeviceGet(int* gpu, int index) {
    if (index == driver.lost_gpu) return 101;  // CUDA_ERROR_INVALID_DEVICE
    *gpu = index;
    return 0;
}
int cuDeviceGetName(char* name, int bytes, int) {
    std::strncpy(name, "Fake", static_cast<std::size_t>(bytes));
    return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
    *bytes = std::size_t{1} << 30U;
    return 0;
}
int cuDeviceGetAttribute(int* value, int which, int which_gpu) {
    const std::map<int, int> values{{16, 4},
                                    {18, 0},
                                    {19, 1},
                                    {33, 0x3b + which_gpu},
                                    {34, 0},
                                    {50, 0},
                                    {75, driver.capability / 10},
                                    {76, driver.capability % 10},
                                    {83, driver.has_managed},
                                    {88, driver.has_pageable},
                                    {89, driver.has_managed},
                                    {97, 232448}};
    *value = values.at(which);
    return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    static char the_only_one;
    if (const int failure = driver.called("cuDevicePrimaryCtxRetain")) return failure;
    ++driver.alive;
    *context = &the_only_one;
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
    --driver.alive;
    return 0;
}
int cuCtxSetCurrent(void*) {
    return driver.called("cuCtxSetCurrent");
}
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    *free = driver.free_bytes;
    *total = std::size_t{1} << 30U;
    return 0;
}
int cuMemAlloc_v2(void** begin, std::size_t bytes) {
    return allocated("cuMemAlloc_v2", begin, bytes);
}
int cuMemFree_v2(void* begin) {
    return given_back(begin);
}
int cuMemHostAlloc(void** begin, std::size_t bytes, unsigned) {
    return allocated("cuMemHostAlloc", begin, bytes);
}
int cuMemFreeHost(void* begin) {
    return given_back(begin);
}
int cuMemHostGetDevicePointer_v2(void** address, void* begin, unsigned) {
    *address = begin;
    return 0;
}
int cuMemAllocManaged(void** begin, std::size_t bytes, unsigned) {
    return allocated("cuMemAllocManaged", begin, bytes);
}
int cuMemPrefetchAsync(void*, std::size_t, int, void*) {
    return driver.called("cuMemPrefetchAsync");
}
int cuMemcpyHtoDAsync_v2(void* to, const void* from, std::size_t bytes, void*) {
    std::memcpy(to, from, bytes);
    return driver.called("cuMemcpyHtoDAsync_v2");
}
int cuMemcpy2DAsync_v2(const device::cuda::RowCopy* copy, void*) {
    for (std::size_t row = 0; row < copy->rows; ++row)
        std::memcpy(reinterpret_cast<std::byte*>(copy->to_device) + row * copy->to_pitch,
                    static_cast<const std::byte*>(copy->from_host) + row * copy->from_pitch, copy->row_bytes);
    return driver.called("cuMemcpy2DAsync_v2");
}
int cuMemcpyDtoHAsync_v2(void* to, const void* from, std::size_t bytes, void*) {
    std::memcpy(to, from, bytes);
    return driver.called("cuMemcpyDtoHAsync_v2");
}
int cuStreamCreate(void** stream, unsigned) {
    return made("cuStreamCreate", stream);
}
int cuStreamDestroy_v2(void* stream) {
    return given_back(stream);
}
int cuStreamSynchronize(void*) {
    ++driver.synchronized;
    return 0;
}
int cuEventCreate(void** event, unsigned) {
    return made("cuEventCreate", event);
}
int cuEventDestroy_v2(void* event) {
    return given_back(event);
}
int cuEventRecord(void*, void*) {
    return driver.called("cuEventRecord");
}
int cuEventQuery(void*) {
    return driver.is_never_done ? 600 : driver.called("cuEventQuery");
}
int cuEventElapsedTime(float* ms, void*, void*) {
    *ms = 1.5F;
    return 0;
}
int cuModuleLoadDataEx(void** module, const void* text, unsigned, int*, void** values) {
    if (driver.called("cuModuleLoadDataEx") != 0)
        std::strcpy(static_cast<char*>(values[0]), "too new for me");
    return std::strcmp(static_cast<const char*>(text), driver.capability < 80 ? "for 7.0" : "for 8.0") == 0
               ? made("cuModuleLoadDataEx", module)
               : 1;
}
int cuModuleUnload(void* module) {
    return given_back(module);
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
    *function = module;
    return std::strcmp(name, "increment") == 0 ? 0 : 500;
}
int cuFuncSetAttribute(void*, int which, int value) {
    if (which != 8) return 1;
    driver.local_bytes_allowed = static_cast<unsigned>(value);
    return driver.called("cuFuncSetAttribute");
}
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned local_bytes,
                   void*, void** arguments, void**) {
    if (local_bytes > 49152 && local_bytes > driver.local_bytes_allowed) return 1;
    std::uint32_t* numbers = nullptr;
    std::uint32_t count = 0;
    std::memcpy(&numbers, arguments[0], sizeof numbers);
    std::memcpy(&count, arguments[1], sizeof count);
    for (std::uint32_t i = 0; i < count; ++i) ++numbers[i];
    return driver.called("cuLaunchKernel");
}
int cuGetErrorName(int, const char** name) {
    *name = "CUDA_ERROR_FAKE";
    return 0;
}
int cuGetErrorString(int, const char** text) {
    *text = "as ordered";
    return 0;
}
}

namespace {

// Every function of the driver that may fail, in one go.
void increment_once(Device& device, MemoryPolicy policy) {
    const auto kernel = device.kernel(increment_variant(), "increment");
    const auto memory = device.allocate(64, policy);
    const auto queue = device.queue();
    const auto numbers = memory->host_as<std::uint32_t>();
    std::iota(numbers.begin(), numbers.end(), 5U);
    queue->to_device(*memory, 64);
    const KernelArgument arguments[] = {memory.get(), 16U, LocalBytes{100'000}};
    queue->launch(*kernel, {1, 16}, arguments);
    queue->to_host(*memory, 64);
    wait_for(*queue->mark(), "increment", std::chrono::milliseconds(30));
    CHECK(numbers[15] == 21);
}

}  // namespace

TEST_CASE("cuda: a driver's GPU is told with what it can, and increments under each policy") {
    driver = {};
    driver.has_pageable = true;
    const FoundDevices found = found_here();
    REQUIRE(found.devices.size() == 1);
    const DeviceInfo& info = found.devices[0].info;
    CHECK(info.id == "cuda:0");
    CHECK(info.name == "Fake");
    CHECK(info.driver == "CUDA driver API 12.4, capability 90, kernels as PTX");
    CHECK(info.pci == "0000:3b:00.0");
    CHECK(names(info.policies) == "copy, pinned, mapped, managed, prefetched, system, resident");
    {
        const auto device = found.devices[0].open();
        for (const MemoryPolicy policy : info.policies) {
            if (policy != MemoryPolicy::resident) increment_once(*device, policy);
        }
    }
    CHECK(driver.alive == 0);
}

TEST_CASE("cuda: the PTX is the newest that the GPU understands, and where there is none that is said") {
    driver = {};
    for (const int capability : {75, 80, 120}) {
        driver.capability = capability;
        increment_once(*found_here().devices[0].open(), MemoryPolicy::copy);
    }
    driver.capability = 60;
    CHECK(message_of([] {
              increment_once(*found_here().devices[0].open(), MemoryPolicy::copy);
          }).starts_with("cuda:0: no PTX of increment  for compute capability 60"));
}

TEST_CASE("cuda: a driver without a GPU, or one that fails to begin, is a reason why there is none") {
    driver = {};
    driver.failures["cuInit"] = 100;
    CHECK(found_here().absent == std::vector<std::string>{"cuda: the driver is there, and no device"});
    driver.failures["cuInit"] = 803;
    CHECK(found_here().absent ==
          std::vector<std::string>{"cuda: cuInit failed: CUDA_ERROR_FAKE (as ordered)"});
}

TEST_CASE("cuda: a GPU that fails does not hide the others") {
    driver = {};
    driver.gpus = 3;
    driver.lost_gpu = 1;
    const FoundDevices found = found_here();
    REQUIRE(found.devices.size() == 2);
    CHECK(found.devices[0].info.id == "cuda:0");
    CHECK(found.devices[1].info.id == "cuda:2");
    REQUIRE(found.absent.size() == 1);
    CHECK(found.absent[0] == "cuda:1: cuDeviceGet failed: CUDA_ERROR_FAKE (as ordered)");
}

TEST_CASE("cuda: whichever call fails is told with the device, and all that was made is given back") {
    for (const char* call :
         {"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuMemAlloc_v2", "cuMemHostAlloc",
          "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamCreate", "cuEventCreate", "cuEventRecord",
          "cuEventQuery", "cuModuleLoadDataEx", "cuFuncSetAttribute", "cuLaunchKernel"}) {
        CAPTURE(std::string(call));
        driver = {};
        driver.failures[call] = 2;
        const std::string message =
            message_of([] { increment_once(*found_here().devices[0].open(), MemoryPolicy::pinned); });
        CHECK(message.starts_with("cuda:0"));
        CHECK(message.find(std::string(call).substr(0, std::string(call).find('_')) +
                           " failed: CUDA_ERROR_FAKE") != std::string::npos);
        CHECK(driver.alive == 0);
    }
}

TEST_CASE("cuda: a driver that refuses the PTX is quoted") {
    driver = {};
    driver.failures["cuModuleLoadDataEx"] = 222;
    const std::string message =
        message_of([] { increment_once(*found_here().devices[0].open(), MemoryPolicy::copy); });
    CHECK(message.find("the driver refuses the PTX of increment: too new for me") != std::string::npos);
}

TEST_CASE(
    "cuda: managed memory is refused beyond a quarter of what is free, and where the host may not touch it") {
    driver = {};
    driver.free_bytes = 4000;
    {
        const auto device = found_here().devices[0].open();
        CHECK(device->allocate(1000, MemoryPolicy::managed)->bytes() == 1000);
        CHECK(message_of([&] {
                  device->allocate(1001, MemoryPolicy::managed);
              }).find("are more than a quarter of the 4000 that are free") != std::string::npos);
    }
    driver.has_managed = false;
    CHECK(names(found_here().devices[0].info.policies) == "copy, pinned, mapped, resident");
}

TEST_CASE("cuda: a GPU that hangs is told by who waits for it, and then nothing waits for it any more") {
    driver = {};
    increment_once(*found_here().devices[0].open(), MemoryPolicy::copy);
    CHECK(driver.synchronized == 1);
    driver = {};
    driver.is_never_done = true;
    CHECK(message_of([] {
              increment_once(*found_here().devices[0].open(), MemoryPolicy::copy);
          }).starts_with("increment: not done after 30 ms"));
    CHECK(driver.synchronized == 0);
    CHECK(driver.alive == 5);  // kernel, memory, queue, event and context are left to it
}
