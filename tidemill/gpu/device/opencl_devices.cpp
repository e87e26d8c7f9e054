#include "tidemill/gpu/device/opencl_devices.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/internal/devices_behind.hpp"
#include "tidemill/gpu/device/internal/opencl_context.hpp"
#include "tidemill/gpu/device/internal/opencl_memory.hpp"

namespace tidemill::device {
namespace {

using namespace opencl;

class OpenclKernel : public DeviceKernel {
  public:
    OpenclKernel(ContextPointer context, const KernelVariant& variant, const std::string& name)
        : context_(std::move(context)) {
        const char* text = variant.source.opencl.data();
        const std::size_t length = variant.source.opencl.size();
        Status status = kSuccess;
        ProgramHandle program = driver().create_program(context_->handle(), 1, &text, &length, &status);
        context_->check(status, "clCreateProgramWithSource");
        program_ = {context_, program, &Driver::release_program};
        build(variant, name);
        KernelHandle kernel = driver().create_kernel(program, name.c_str(), &status);
        context_->check(status, "clCreateKernel");
        kernel_ = {context_, kernel, &Driver::release_kernel};
    }

    KernelHandle handle() const { return kernel_.get(); }

  private:
    const Driver& driver() const { return context_->driver(); }

    void build(const KernelVariant& variant, const std::string& name) const {
        const std::string options = "-cl-std=CL1.2 " + variant.options;
        DeviceHandle device = context_->device();
        const Status status =
            driver().build_program(program_.get(), 1, &device, options.c_str(), nullptr, nullptr);
        if (status == kSuccess) return;
        throw DeviceError(fmt::format("{}: building {} ({}) failed with OpenCL error {}: {}", context_->id(),
                                      name, options, status, build_log(device)));
    }

    // Its beginning: a buffer that is too short for all of it gets nothing.
    std::string build_log(DeviceHandle device) const {
        constexpr std::size_t kMost = 8192;
        std::size_t length = 0;
        driver().build_info(program_.get(), device, kBuildLog, 0, nullptr, &length);
        std::string log(length, '\0');
        driver().build_info(program_.get(), device, kBuildLog, log.size(), log.data(), nullptr);
        log.resize(std::min(log.find('\0'), kMost));
        while (log.ends_with('\n')) log.pop_back();
        return log;
    }

    ContextPointer context_;
    Owned<ProgramHandle> program_{};
    Owned<KernelHandle> kernel_{};
};

class OpenclEvent : public DeviceEvent {
  public:
    OpenclEvent(const ContextPointer& context, EventHandle event)
        : context_(context), event_(context, event, &Driver::release_event) {}

    bool done() override {
        Status state = kSuccess;
        context_->check(
            context_->driver().event_info(event_.get(), kExecutionStatus, sizeof state, &state, nullptr),
            "clGetEventInfo");
        if (state < 0) context_->check(state, "a command before this event");
        return state == kComplete;
    }
    void give_up() override { context_->give_up(); }
    double us_since(DeviceEvent& earlier) override {
        return static_cast<double>(end_ns() - dynamic_cast<OpenclEvent&>(earlier).end_ns()) / 1000;
    }

  private:
    std::int64_t end_ns() const {
        std::uint64_t ns = 0;
        context_->check(
            context_->driver().profiling_info(event_.get(), kProfilingEnd, sizeof ns, &ns, nullptr),
            "clGetEventProfilingInfo");
        return static_cast<std::int64_t>(ns);
    }

    ContextPointer context_;
    Owned<EventHandle> event_;
};

class OpenclQueue : public DeviceQueue {
  public:
    explicit OpenclQueue(const ContextPointer& context) : context_(context), queue_(new_queue(context)) {}
    ~OpenclQueue() override {
        if (!context_->is_given_up()) context_->driver().finish(queue_.get());
    }
    OpenclQueue(const OpenclQueue&) = delete;
    OpenclQueue& operator=(const OpenclQueue&) = delete;

    void to_device(DeviceMemory& memory, std::size_t bytes) override {
        dynamic_cast<OpenclMemory&>(memory).to_device(queue_.get(), bytes);
    }
    void to_device(DeviceMemory& memory, std::size_t first_byte, const HostRows& rows) override {
        dynamic_cast<OpenclMemory&>(memory).to_device(queue_.get(), first_byte, rows);
    }
    void to_host(DeviceMemory& memory, std::size_t bytes) override {
        dynamic_cast<OpenclMemory&>(memory).to_host(queue_.get(), bytes);
    }

    void launch(DeviceKernel& kernel, WorkSize size, std::span<const KernelArgument> arguments) override {
        KernelHandle handle = dynamic_cast<OpenclKernel&>(kernel).handle();
        for (unsigned i = 0; i < arguments.size(); ++i) set(handle, i, arguments[i]);
        const std::size_t all = size.groups * size.items_per_group;
        context_->check(context_->driver().launch(queue_.get(), handle, 1, nullptr, &all,
                                                  &size.items_per_group, 0, nullptr, nullptr),
                        "clEnqueueNDRangeKernel");
    }

    std::unique_ptr<DeviceEvent> mark() override {
        EventHandle event = nullptr;
        context_->check(context_->driver().mark(queue_.get(), 0, nullptr, &event),
                        "clEnqueueMarkerWithWaitList");
        context_->check(context_->driver().flush(queue_.get()), "clFlush");
        return std::make_unique<OpenclEvent>(context_, event);
    }

  private:
    void set(KernelHandle kernel, unsigned index, const KernelArgument& argument) const {
        const auto plain = [&](std::size_t bytes, const void* value) {
            context_->check(context_->driver().set_argument(kernel, index, bytes, value), "clSetKernelArg");
        };
        if (auto* const* memory = std::get_if<DeviceMemory*>(&argument)) {
            dynamic_cast<const OpenclMemory&>(**memory).set_as_argument(kernel, index);
        } else if (const auto* local = std::get_if<LocalBytes>(&argument)) {
            plain(local->bytes, nullptr);
        } else if (const auto* number = std::get_if<std::int32_t>(&argument)) {
            plain(sizeof *number, number);
        } else {
            plain(sizeof(std::uint32_t), &std::get<std::uint32_t>(argument));
        }
    }

    ContextPointer context_;
    Owned<QueueHandle> queue_;
};

class OpenclDevice : public Device {
  public:
    OpenclDevice(const Driver& driver, DeviceHandle device, bool is_fine_grain, DeviceInfo info)
        : Device(info),
          context_(std::make_shared<Context>(driver, device, info.id)),
          is_fine_grain_(is_fine_grain) {}

    // OpenCL does not report free memory.
    std::size_t free_bytes() override { return info().memory_bytes; }
    std::unique_ptr<DeviceQueue> queue() override { return std::make_unique<OpenclQueue>(context_); }
    std::unique_ptr<DeviceKernel> kernel(const KernelVariant& variant, const std::string& name) override {
        return std::make_unique<OpenclKernel>(context_, variant, name);
    }

  protected:
    std::unique_ptr<DeviceMemory> allocate_checked(std::size_t bytes, MemoryPolicy policy) override {
        return std::make_unique<OpenclMemory>(context_, bytes, policy, is_fine_grain_);
    }

  private:
    ContextPointer context_;
    bool is_fine_grain_;
};

template <class Value>
Value device_value(const Driver& driver, DeviceHandle device, unsigned which) {
    Value value{};
    driver.check(driver.device_info(device, which, sizeof value, &value, nullptr), "clGetDeviceInfo",
                 "opencl");
    return value;
}

std::string device_text(const Driver& driver, DeviceHandle device, unsigned which) {
    std::string text(1024, '\0');
    driver.check(driver.device_info(device, which, text.size(), text.data(), nullptr), "clGetDeviceInfo",
                 "opencl");
    return text.substr(0, text.find('\0'));
}

// Before OpenCL 2.0 the question is an error: no shared virtual memory.
Flags svm_of(const Driver& driver, DeviceHandle device) {
    Flags capabilities = 0;
    const Status status =
        driver.device_info(device, kSvmCapabilities, sizeof capabilities, &capabilities, nullptr);
    return status == kSuccess && driver.has_svm() ? capabilities : 0;
}

// Empty where it is unknown: not every device has a place there.
std::string pci_place_of(const Driver& driver, DeviceHandle device) {
    const auto tells = [&](unsigned which, auto& value) {
        return driver.device_info(device, which, sizeof value, &value, nullptr) == kSuccess;
    };
    PciBusInfo info{};
    if (tells(kPciBusInfo, info)) return pci_place(info.domain, info.bus, info.device, info.function);
    unsigned domain = 0, bus = 0, slot = 0;
    if (tells(kPciBusNvidia, bus) && tells(kPciSlotNvidia, slot)) {
        tells(kPciDomainNvidia, domain);
        return pci_place(domain, bus, slot >> 3U, slot & 7U);
    }
    TopologyAmd topology{};
    if (tells(kTopologyAmd, topology) && topology.type == 1)
        return pci_place(0, topology.bus, topology.device, topology.function);
    return {};
}

std::vector<MemoryPolicy> policies_of(Flags svm) {
    std::vector<MemoryPolicy> policies{MemoryPolicy::copy, MemoryPolicy::pinned, MemoryPolicy::mapped};
    if ((svm & (kSvmCoarse | kSvmFineBuffer)) != 0) policies.push_back(MemoryPolicy::managed);
    if ((svm & kSvmFineSystem) != 0) policies.push_back(MemoryPolicy::system);
    policies.push_back(MemoryPolicy::resident);
    return policies;
}

const char* kind_of(Flags type) {
    if ((type & kGpuType) != 0) return "gpu";
    return (type & kCpuType) != 0 ? "cpu" : "accelerator";
}

DeviceInfo info_of(const Driver& driver, DeviceHandle device, std::size_t index) {
    DeviceInfo info;
    info.id = fmt::format("opencl:{}", index);
    info.name = device_text(driver, device, kDeviceName);
    info.kind = kind_of(device_value<Flags>(driver, device, kDeviceType));
    info.driver = fmt::format("{}, driver {}", device_text(driver, device, kDeviceVersion),
                              device_text(driver, device, kDriverVersion));
    info.memory_bytes = device_value<std::uint64_t>(driver, device, kGlobalBytes);
    info.local_bytes = device_value<std::uint64_t>(driver, device, kLocalBytes);
    info.compute_units = static_cast<int>(device_value<unsigned>(driver, device, kComputeUnits));
    info.shares_memory = device_value<unsigned>(driver, device, kHostUnifiedMemory) != 0;
    info.policies = policies_of(svm_of(driver, device));
    info.pci = pci_place_of(driver, device);
    return info;
}

std::vector<PlatformHandle> platforms(const Driver& driver) {
    unsigned count = 0;
    const Status status = driver.platforms(0, nullptr, &count);
    if (status == kNoPlatform) return {};
    driver.check(status, "clGetPlatformIDs", "opencl");
    std::vector<PlatformHandle> all(count);
    driver.check(driver.platforms(count, all.data(), nullptr), "clGetPlatformIDs", "opencl");
    return all;
}

std::vector<DeviceHandle> devices(const Driver& driver, PlatformHandle platform, const std::string& name) {
    unsigned count = 0;
    const Status status = driver.devices(platform, kAllTypes, 0, nullptr, &count);
    if (status == kDeviceNotFound) return {};
    driver.check(status, "clGetDeviceIDs", name);
    std::vector<DeviceHandle> all(count);
    driver.check(driver.devices(platform, kAllTypes, count, all.data(), nullptr), "clGetDeviceIDs", name);
    return all;
}

void add_devices_of(const Driver& driver, PlatformHandle platform, const std::string& name,
                    FoundDevices& all) {
    for (DeviceHandle device : devices(driver, platform, name)) {
        const DeviceInfo info = info_of(driver, device, all.devices.size());
        const bool is_fine_grain = (svm_of(driver, device) & kSvmFineBuffer) != 0;
        all.devices.push_back(
            {info, [=] { return std::make_unique<OpenclDevice>(driver, device, is_fine_grain, info); },
             name});
    }
}

// One driver that fails does not hide what the others have.
void add_devices(const SharedLibrary& library, FoundDevices& all) {
    const Driver driver(library);
    std::size_t number = 0;
    for (PlatformHandle platform : platforms(driver)) {
        try {
            add_devices_of(driver, platform, fmt::format("opencl platform {}", number++), all);
        } catch (const DeviceError& error) {
            all.absent.emplace_back(error.what());
        }
    }
    if (all.devices.empty())
        all.absent.emplace_back(
            "opencl: the loader is there, and no platform with a device (PoCL has none where it cannot write "
            "its kernel cache: POCL_CACHE_DIR, or ~/.cache/pocl)");
}

}  // namespace

FoundDevices find_opencl_devices(const std::string& library) {
    return devices_behind(library, "opencl: no loader", add_devices);
}

}  // namespace tidemill::device
