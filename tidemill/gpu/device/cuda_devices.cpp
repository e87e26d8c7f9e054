#include "tidemill/gpu/device/cuda_devices.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/internal/cuda_gpu.hpp"
#include "tidemill/gpu/device/internal/cuda_memory.hpp"
#include "tidemill/gpu/device/internal/devices_behind.hpp"

namespace tidemill::device {
namespace {

using namespace cuda;

class CudaKernel : public DeviceKernel {
  public:
    CudaKernel(GpuPointer gpu, std::string_view ptx, const std::string& name) : gpu_(std::move(gpu)) {
        load(std::string(ptx), name);
        gpu_->check(gpu_->enter().find_function(&function_, module_.get(), name.c_str()),
                    "cuModuleGetFunction");
    }

    FunctionHandle function() const { return function_; }

    // More than what every GPU has must be asked for.
    void allow_local(std::size_t bytes) {
        constexpr std::size_t kWithoutAsking = std::size_t{48} * 1024;
        if (bytes <= std::max(allowed_, kWithoutAsking)) return;
        gpu_->check(
            gpu_->enter().set_function_attribute(function_, kMaxSharedPerBlock, static_cast<int>(bytes)),
            "cuFuncSetAttribute");
        allowed_ = bytes;
    }

  private:
    void load(const std::string& ptx, const std::string& name) {
        const Driver& driver = gpu_->enter();
        std::string log(4096, '\0');
        std::array<int, 2> options{kJitErrorLog, kJitErrorLogBytes};
        std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
        ModuleHandle module = nullptr;
        const Status status =
            driver.load_module(&module, ptx.c_str(), options.size(), options.data(), values.data());
        log.resize(std::min(log.find('\0'), log.size()));
        driver.check(status, "cuModuleLoadDataEx",
                     fmt::format("{}: the driver refuses the PTX of {}: {}", gpu_->id(), name, log));
        module_ = {gpu_, module, &Driver::unload_module};
    }

    GpuPointer gpu_;
    Owned<ModuleHandle> module_{};
    FunctionHandle function_ = nullptr;
    std::size_t allowed_ = 0;
};

class CudaEvent : public DeviceEvent {
  public:
    CudaEvent(GpuPointer gpu, StreamHandle stream) : gpu_(std::move(gpu)) {
        EventHandle event = nullptr;
        gpu_->check(gpu_->enter().create_event(&event, 0), "cuEventCreate");
        event_ = {gpu_, event, &Driver::destroy_event};
        gpu_->check(gpu_->enter().record_event(event, stream), "cuEventRecord");
    }

    bool done() override {
        const Status status = gpu_->enter().query_event(event_.get());
        if (status == kNotReady) return false;
        gpu_->check(status, "cuEventQuery");
        return true;
    }
    double us_since(DeviceEvent& earlier) override {
        float ms = 0;
        const EventHandle begin = dynamic_cast<CudaEvent&>(earlier).event_.get();
        gpu_->check(gpu_->enter().elapsed_ms(&ms, begin, event_.get()), "cuEventElapsedTime");
        return 1000.0 * static_cast<double>(ms);
    }
    void give_up() override { gpu_->give_up(); }

  private:
    GpuPointer gpu_;
    Owned<EventHandle> event_{};
};

// Arguments as the driver wants them: an address of each value.
class ArgumentList {
  public:
    explicit ArgumentList(std::span<const KernelArgument> arguments) : values_(arguments.size()) {
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            values_[i] = value_of(arguments[i]);
            addresses_.push_back(&values_[i]);
        }
    }
    void** addresses() { return addresses_.data(); }
    std::size_t local_bytes() const { return local_bytes_; }

  private:
    // Local memory is given as an offset into what the launch asks for.
    std::uint64_t value_of(const KernelArgument& argument) {
        if (auto* const* memory = std::get_if<DeviceMemory*>(&argument))
            return dynamic_cast<CudaMemory&>(**memory).address();
        if (const auto* number = std::get_if<std::int32_t>(&argument))
            return static_cast<std::uint32_t>(*number);
        if (const auto* number = std::get_if<std::uint32_t>(&argument)) return *number;
        constexpr std::size_t kAlignment = 16;
        const std::size_t offset = (local_bytes_ + kAlignment - 1) / kAlignment * kAlignment;
        local_bytes_ = offset + std::get<LocalBytes>(argument).bytes;
        return offset;
    }

    std::vector<std::uint64_t> values_;
    std::vector<void*> addresses_;
    std::size_t local_bytes_ = 0;
};

class CudaQueue : public DeviceQueue {
  public:
    explicit CudaQueue(GpuPointer gpu) : gpu_(std::move(gpu)) {
        StreamHandle stream = nullptr;
        gpu_->check(gpu_->enter().create_stream(&stream, kStreamNonBlocking), "cuStreamCreate");
        stream_ = {gpu_, stream, &Driver::destroy_stream};
    }

    ~CudaQueue() override {
        if (!gpu_->is_given_up()) gpu_->enter_to_leave().synchronize_stream(stream_.get());
    }
    CudaQueue(const CudaQueue&) = delete;
    CudaQueue& operator=(const CudaQueue&) = delete;

    void to_device(DeviceMemory& memory, std::size_t bytes) override {
        dynamic_cast<CudaMemory&>(memory).to_device(stream_.get(), bytes);
    }
    void to_device(DeviceMemory& memory, std::size_t first_byte, const HostRows& rows) override {
        dynamic_cast<CudaMemory&>(memory).to_device(stream_.get(), first_byte, rows);
    }
    void to_host(DeviceMemory& memory, std::size_t bytes) override {
        dynamic_cast<CudaMemory&>(memory).to_host(stream_.get(), bytes);
    }

    void launch(DeviceKernel& kernel, WorkSize size, std::span<const KernelArgument> arguments) override {
        auto& here = dynamic_cast<CudaKernel&>(kernel);
        ArgumentList list(arguments);
        here.allow_local(list.local_bytes());
        gpu_->check(gpu_->enter().launch(here.function(), static_cast<unsigned>(size.groups), 1, 1,
                                         static_cast<unsigned>(size.items_per_group), 1, 1,
                                         static_cast<unsigned>(list.local_bytes()), stream_.get(),
                                         list.addresses(), nullptr),
                    "cuLaunchKernel");
    }

    std::unique_ptr<DeviceEvent> mark() override { return std::make_unique<CudaEvent>(gpu_, stream_.get()); }

  private:
    GpuPointer gpu_;
    Owned<StreamHandle> stream_{};
};

class CudaDevice : public Device {
  public:
    CudaDevice(const Driver& driver, Ordinal ordinal, int capability, DeviceInfo info)
        : Device(info), gpu_(std::make_shared<Gpu>(driver, ordinal, info.id)), capability_(capability) {}

    std::size_t free_bytes() override {
        std::size_t free = 0;
        std::size_t total = 0;
        gpu_->check(gpu_->enter().memory_info(&free, &total), "cuMemGetInfo");
        return free;
    }
    std::unique_ptr<DeviceQueue> queue() override { return std::make_unique<CudaQueue>(gpu_); }
    std::unique_ptr<DeviceKernel> kernel(const KernelVariant& variant, const std::string& name) override {
        return std::make_unique<CudaKernel>(gpu_, ptx_of(variant), name);
    }

  protected:
    std::unique_ptr<DeviceMemory> allocate_checked(std::size_t bytes, MemoryPolicy policy) override {
        return std::make_unique<CudaMemory>(gpu_, bytes, policy);
    }

  private:
    // The newest that this GPU understands.
    std::string_view ptx_of(const KernelVariant& variant) const {
        const PtxImage* best = nullptr;
        for (const PtxImage& image : variant.source.ptx) {
            if (image.options != variant.options || image.from_capability > capability_) continue;
            if (best == nullptr || image.from_capability > best->from_capability) best = &image;
        }
        if (best != nullptr) return best->text;
        throw DeviceError(
            fmt::format("{}: no PTX of {} {} for compute capability {}: build with clang-19 and libclc-19 "
                        "installed, or use the "
                        "device through OpenCL",
                        info().id, variant.source.name, variant.options, capability_));
    }

    GpuPointer gpu_;
    int capability_;
};

int attribute(const Driver& driver, int which, Ordinal ordinal) {
    int value = 0;
    driver.check(driver.device_attribute(&value, which, ordinal), "cuDeviceGetAttribute", "cuda");
    return value;
}

// Where the host may not touch managed memory while a kernel runs, that policy is not offered.
std::vector<MemoryPolicy> policies_of(const Driver& driver, Ordinal ordinal) {
    std::vector<MemoryPolicy> policies{MemoryPolicy::copy, MemoryPolicy::pinned};
    if (attribute(driver, kCanMapHostMemory, ordinal) != 0) policies.push_back(MemoryPolicy::mapped);
    if (attribute(driver, kManagedMemory, ordinal) != 0 &&
        attribute(driver, kConcurrentManagedAccess, ordinal) != 0) {
        policies.push_back(MemoryPolicy::managed);
        policies.push_back(MemoryPolicy::prefetched);
    }
    if (attribute(driver, kPageableMemoryAccess, ordinal) != 0) policies.push_back(MemoryPolicy::system);
    policies.push_back(MemoryPolicy::resident);
    return policies;
}

int capability_of(const Driver& driver, Ordinal ordinal) {
    return 10 * attribute(driver, kCapabilityMajor, ordinal) + attribute(driver, kCapabilityMinor, ordinal);
}

std::string pci_place_of(const Driver& driver, Ordinal ordinal) {
    const auto number = [&](int which) { return static_cast<unsigned>(attribute(driver, which, ordinal)); };
    return pci_place(number(kPciDomain), number(kPciBus), number(kPciDevice), 0);
}

DeviceInfo info_of(const Driver& driver, Ordinal ordinal) {
    std::array<char, 256> name{};
    int version = 0;
    DeviceInfo info;
    info.id = fmt::format("cuda:{}", ordinal);
    driver.check(driver.device_name(name.data(), name.size(), ordinal), "cuDeviceGetName", info.id);
    driver.check(driver.device_memory(&info.memory_bytes, ordinal), "cuDeviceTotalMem", info.id);
    driver.check(driver.driver_version(&version), "cuDriverGetVersion", info.id);
    info.name = name.data();
    info.kind = "gpu";
    info.driver = fmt::format("CUDA driver API {}.{}, capability {}, kernels as PTX", version / 1000,
                              version % 1000 / 10, capability_of(driver, ordinal));
    info.local_bytes = static_cast<std::size_t>(attribute(driver, kMaxSharedOptIn, ordinal));
    info.compute_units = attribute(driver, kComputeUnits, ordinal);
    info.shares_memory = attribute(driver, kIntegrated, ordinal) != 0;
    info.policies = policies_of(driver, ordinal);
    info.pci = pci_place_of(driver, ordinal);
    return info;
}

FoundDevice found(const Driver& driver, int index) {
    Ordinal ordinal = 0;
    driver.check(driver.device_get(&ordinal, index), "cuDeviceGet", fmt::format("cuda:{}", index));
    const DeviceInfo info = info_of(driver, ordinal);
    const int capability = capability_of(driver, ordinal);
    return {info, [=] { return std::make_unique<CudaDevice>(driver, ordinal, capability, info); }, "cuda"};
}

void add_devices(const SharedLibrary& library, FoundDevices& all) {
    const Driver driver(library);
    int count = 0;
    const Status status = driver.init(0);
    if (status != kNoDevice) {
        driver.check(status, "cuInit", "cuda");
        driver.check(driver.device_count(&count), "cuDeviceGetCount", "cuda");
    }
    for (int index = 0; index < count; ++index) {
        try {
            all.devices.push_back(found(driver, index));
        } catch (const DeviceError& error) {  // the others may be well
            all.absent.emplace_back(error.what());
        }
    }
    if (count == 0) all.absent.emplace_back("cuda: the driver is there, and no device");
}

}  // namespace

FoundDevices find_cuda_devices(const std::string& library) {
    return devices_behind(library, "cuda: no driver", add_devices);
}

}  // namespace tidemill::device
