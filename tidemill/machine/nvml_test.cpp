#include <string>

#include <doctest/doctest.h>

#include "tidemill/machine/energy_meter.hpp"
#include "tidemill/machine/platform_error.hpp"

using namespace tidemill;

namespace {

// A library of this program's own, found like NVIDIA's: two GPUs.
struct Gpus {
    unsigned count = 2;
    unsigned long long millijoules[2] = {5'000'000, 70'000};
    int failure = 0;
    int open = 0;
};

Gpus gpus;

using Clock = std::chrono::steady_clock;

EnergySystem with_this_library() {
    EnergySystem system;
    system.nvml_library = "";
    return system;
}

}  // namespace

extern "C" {
const char* nvmlErrorString(int) {
    return "GPU is lost";
}
int nvmlInit_v2() {
    ++gpus.open;
    return 0;
}
int nvmlShutdown() {
    --gpus.open;
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = gpus.count;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** gpu) {
    *gpu = &gpus.millijoules[index];
    return 0;
}
int nvmlDeviceGetName(void*, char* name, unsigned bytes) {
    return std::string("Card").copy(name, bytes) == 4 ? 0 : 1;
}
int nvmlDeviceGetTotalEnergyConsumption(void* gpu, unsigned long long* millijoules) {
    *millijoules = *static_cast<unsigned long long*>(gpu);
    return gpus.failure;
}
}

TEST_CASE("nvml: each GPU is a domain that counts its energy from the start on") {
    gpus = {};
    const FoundEnergyMeter found = find_energy_meter("nvml", with_this_library());
    REQUIRE(found.meter);
    REQUIRE(found.meter->domains().size() == 2);
    found.meter->start(Clock::time_point{});
    gpus.millijoules[1] += 1500;
    found.meter->sample(Clock::time_point{} + std::chrono::seconds(1));
    CHECK(found.meter->domains()[0].name == "gpu0 (Card)");
    CHECK(found.meter->domains()[0].joules == 0);
    CHECK(found.meter->domains()[1].joules == doctest::Approx(1.5));
}

TEST_CASE("nvml: a GPU that no longer answers is an error with the library's words, and it is shut down") {
    gpus = {};
    {
        const FoundEnergyMeter found = find_energy_meter("nvml", with_this_library());
        CHECK(gpus.open == 1);
        gpus.failure = 15;
        CHECK_THROWS_WITH_AS(found.meter->sample(Clock::now()),
                             "nvmlDeviceGetTotalEnergyConsumption failed: GPU is lost", PlatformError);
    }
    CHECK(gpus.open == 0);
}

TEST_CASE("nvml: without a driver, or a GPU, the meter is refused with the reason") {
    gpus = {};
    gpus.count = 0;
    CHECK_THROWS_WITH_AS(find_energy_meter("nvml", with_this_library()),
                         "energy meter nvml: the NVIDIA driver is there, and no GPU", PlatformError);
    EnergySystem system;
    system.nvml_library = "libtidemill-nothing.so.1";
    CHECK_THROWS_AS(find_energy_meter("nvml", system), PlatformError);
    system.nvml_library = "libm.so.6";
    CHECK_THROWS_WITH_AS(find_energy_meter("nvml", system),
                         doctest::Contains("energy meter nvml: libm.so.6 has no function nvmlErrorString"),
                         PlatformError);
}
