#include <array>
#include <memory>

#include <fmt/format.h>

#include "tidemill/machine/internal/energy_sensor.hpp"
#include "tidemill/machine/platform_error.hpp"
#include "tidemill/machine/shared_library.hpp"

namespace tidemill::internal {

namespace {

// The part of NVIDIA's management library that is used, declared here so that building needs none of its
// headers.
using GpuHandle = struct Gpu_*;

/// The library, open and initialised for as long as a sensor reads it.
class Nvml {
  public:
    explicit Nvml(const std::string& file) {
        std::string why;
        const auto library = SharedLibrary<PlatformError>::open(file, why);
        if (!library) throw PlatformError(fmt::format("no NVIDIA driver ({})", why));
        library->find("nvmlErrorString", error_text_);
        library->find("nvmlInit_v2", init_);
        library->find("nvmlShutdown", shut_down_);
        library->find("nvmlDeviceGetCount_v2", count_);
        library->find("nvmlDeviceGetHandleByIndex_v2", handle_by_index_);
        library->find("nvmlDeviceGetName", name_);
        library->find("nvmlDeviceGetTotalEnergyConsumption", energy_);
        check(init_(), "nvmlInit");
    }
    ~Nvml() { shut_down_(); }
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    unsigned count() const {
        unsigned count = 0;
        check(count_(&count), "nvmlDeviceGetCount");
        return count;
    }
    GpuHandle gpu(unsigned index) const {
        GpuHandle gpu = nullptr;
        check(handle_by_index_(index, &gpu), "nvmlDeviceGetHandleByIndex");
        return gpu;
    }
    std::string name(GpuHandle gpu) const {
        std::array<char, 96> name{};
        check(name_(gpu, name.data(), name.size()), "nvmlDeviceGetName");
        return name.data();
    }
    double joules(GpuHandle gpu) const {
        unsigned long long millijoules = 0;
        check(energy_(gpu, &millijoules), "nvmlDeviceGetTotalEnergyConsumption");
        return static_cast<double>(millijoules) / 1000;
    }

  private:
    void check(int status, const char* call) const {
        if (status == 0) return;
        throw PlatformError(fmt::format("{} failed: {}", call, error_text_(status)));
    }

    const char* (*error_text_)(int) = nullptr;
    int (*init_)() = nullptr;
    int (*shut_down_)() = nullptr;
    int (*count_)(unsigned*) = nullptr;
    int (*handle_by_index_)(unsigned, GpuHandle*) = nullptr;
    int (*name_)(GpuHandle, char*, unsigned) = nullptr;
    int (*energy_)(GpuHandle, unsigned long long*) = nullptr;
};

}  // namespace

std::vector<EnergySensor> nvml_sensors(const std::string& library) {
    const auto nvml = std::make_shared<const Nvml>(library);
    std::vector<EnergySensor> sensors;
    for (unsigned index = 0; index < nvml->count(); ++index) {
        GpuHandle gpu = nvml->gpu(index);
        sensors.push_back({fmt::format("gpu{} ({})", index, nvml->name(gpu)), Measures::kJoules,
                           [nvml, gpu] { return nvml->joules(gpu); }});
    }
    if (sensors.empty()) throw PlatformError("the NVIDIA driver is there, and no GPU");
    return sensors;
}

}  // namespace tidemill::internal
