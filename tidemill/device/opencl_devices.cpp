#include "tidemill/device/opencl_devices.hpp"

#include <optional>

#include <fmt/format.h>

#include "tidemill/device/device_error.hpp"
#include "tidemill/device/internal/host_pages.hpp"
#include "tidemill/device/internal/opencl_driver.hpp"

namespace tidemill::device {
namespace {

using namespace opencl;

// A device with a context of its own, and what a message about it begins with.
class Context {
  public:
    Context(const Driver& driver, DeviceHandle device, std::string id)
        : driver_(driver), device_(device), id_(std::move(id)) {
        Status status = kSuccess;
        context_ = driver_.create_context(nullptr, 1, &device_, nullptr, nullptr, &status);
        check(status, "clCreateContext");
    }
    ~Context() { driver_.release_context(context_); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const Driver& driver() const { return driver_; }
    DeviceHandle device() const { return device_; }
    ContextHandle handle() const { return context_; }
    const std::string& id() const { return id_; }
    void check(Status status, const char* call) const { driver_.check(status, call, id_); }

    QueueHandle new_queue() const {
        Status status = kSuccess;
        QueueHandle queue = driver_.create_queue(context_, device_, kProfiling, &status);
        check(status, "clCreateCommandQueue");
        return queue;
    }

  private:
    const Driver driver_;
    DeviceHandle device_;
    std::string id_;
    ContextHandle context_ = nullptr;
};

using ContextPointer = std::shared_ptr<const Context>;

/// What the host holds mapped it may touch; what it does not, kernels may.
class OpenclMemory : public DeviceMemory {
  public:
    OpenclMemory(ContextPointer context, std::size_t bytes, MemoryPolicy policy, bool is_fine_grain)
        : DeviceMemory(policy, bytes), context_(std::move(context)), is_fine_grain_(is_fine_grain) {
        switch (policy) {
            case MemoryPolicy::copy:
                use_pages();
                buffer_ = create_buffer(0, nullptr);
                break;
            case MemoryPolicy::pinned:
                buffer_ = create_buffer(0, nullptr);
                staging_ = create_buffer(kAllocateOnHost, nullptr);
                staging_host_ = map_now(staging_);
                set_host(staging_host_);
                break;
            case MemoryPolicy::mapped:
                use_pages();
                buffer_ = create_buffer(kUseHostPointer, pages_->data());
                map_now(buffer_);
                break;
            case MemoryPolicy::managed:
                allocate_shared();
                break;
            case MemoryPolicy::system:
                use_pages();
                break;
            case MemoryPolicy::prefetched:
            case MemoryPolicy::resident:
                buffer_ = create_buffer(0, nullptr);
                break;
        }
    }
    ~OpenclMemory() override {
        const Driver& driver = context_->driver();
        QueueHandle queue = is_mapped_ || staging_host_ != nullptr ? context_->new_queue() : nullptr;
        if (is_mapped_) unmap(queue);
        if (staging_host_ != nullptr) driver.unmap(queue, staging_, staging_host_, 0, nullptr, nullptr);
        if (queue != nullptr) {
            driver.finish(queue);
            driver.release_queue(queue);
        }
        if (buffer_ != nullptr) driver.release_memory(buffer_);
        if (staging_ != nullptr) driver.release_memory(staging_);
        if (shared_ != nullptr) driver.svm_release(context_->handle(), shared_);
    }
    OpenclMemory(const OpenclMemory&) = delete;
    OpenclMemory& operator=(const OpenclMemory&) = delete;

    void to_device(QueueHandle queue, std::size_t count) {
        if (is_copied()) {
            if (count == 0) return;
            const unsigned blocking = policy() == MemoryPolicy::copy;
            context_->check(context_->driver().write_buffer(queue, buffer_, blocking, 0, count, host().data(),
                                                            0, nullptr, nullptr),
                            "clEnqueueWriteBuffer");
        } else if (is_mapped_) {
            unmap(queue);
        }
    }

    void to_host(QueueHandle queue, std::size_t count) {
        if (is_copied()) {
            if (count == 0) return;
            const unsigned blocking = policy() == MemoryPolicy::copy;
            context_->check(context_->driver().read_buffer(queue, buffer_, blocking, 0, count, host().data(),
                                                           0, nullptr, nullptr),
                            "clEnqueueReadBuffer");
        } else if (is_mappable() && !is_mapped_) {
            map(queue, 0);
        }
    }

    void set_as_argument(KernelHandle kernel, unsigned index) const {
        const Driver& driver = context_->driver();
        if (buffer_ != nullptr) {
            context_->check(driver.set_argument(kernel, index, sizeof buffer_, &buffer_), "clSetKernelArg");
        } else {
            context_->check(driver.set_svm_argument(kernel, index, host().data()),
                            "clSetKernelArgSVMPointer");
        }
    }

  private:
    bool is_copied() const { return policy() == MemoryPolicy::copy || policy() == MemoryPolicy::pinned; }
    bool is_mappable() const {
        return policy() == MemoryPolicy::mapped || (policy() == MemoryPolicy::managed && !is_fine_grain_);
    }

    void use_pages() {
        pages_.emplace(bytes());
        set_host(pages_->data());
    }

    MemoryHandle create_buffer(Flags flags, void* host_pointer) const {
        Status status = kSuccess;
        // Drivers map without a copy only what fills whole lines of their caches.
        const std::size_t rounded = pages_ && host_pointer != nullptr ? pages_->bytes() : bytes();
        MemoryHandle buffer = context_->driver().create_buffer(context_->handle(), kReadWrite | flags,
                                                               rounded, host_pointer, &status);
        context_->check(status, "clCreateBuffer");
        return buffer;
    }

    void allocate_shared() {
        const Flags flags = kReadWrite | (is_fine_grain_ ? kFineGrain : 0);
        shared_ = context_->driver().svm_allocate(context_->handle(), flags, bytes(), 0);
        if (shared_ == nullptr) {
            throw DeviceError(
                fmt::format("{}: clSVMAlloc of {} bytes failed: use smaller batches, or another policy",
                            context_->id(), bytes()));
        }
        set_host(shared_);
        if (!is_fine_grain_) map_now(nullptr);
    }

    void* map_now(MemoryHandle buffer) {
        QueueHandle queue = context_->new_queue();
        void* begin = nullptr;
        Status status = kSuccess;
        if (buffer != nullptr) {
            begin = context_->driver().map_buffer(queue, buffer, 1, kMapReadWrite, 0, bytes(), 0, nullptr,
                                                  nullptr, &status);
        } else {
            status =
                context_->driver().svm_map(queue, 1, kMapReadWrite, shared_, bytes(), 0, nullptr, nullptr);
        }
        context_->driver().release_queue(queue);
        context_->check(status, "mapping");
        is_mapped_ = buffer != staging_ || buffer == nullptr;
        return begin;
    }

    void map(QueueHandle queue, unsigned blocking) {
        Status status = kSuccess;
        if (buffer_ != nullptr) {
            context_->driver().map_buffer(queue, buffer_, blocking, kMapReadWrite, 0, bytes(), 0, nullptr,
                                          nullptr, &status);
        } else {
            status = context_->driver().svm_map(queue, blocking, kMapReadWrite, shared_, bytes(), 0, nullptr,
                                                nullptr);
        }
        context_->check(status, "mapping");
        is_mapped_ = true;
    }

    void unmap(QueueHandle queue) {
        const Driver& driver = context_->driver();
        is_mapped_ = false;
        context_->check(buffer_ != nullptr ? driver.unmap(queue, buffer_, host().data(), 0, nullptr, nullptr)
                                           : driver.svm_unmap(queue, shared_, 0, nullptr, nullptr),
                        "unmapping");
    }

    ContextPointer context_;
    bool is_fine_grain_;
    bool is_mapped_ = false;
    MemoryHandle buffer_ = nullptr;
    MemoryHandle staging_ = nullptr;
    void* staging_host_ = nullptr;
    void* shared_ = nullptr;
    std::optional<HostPages> pages_;
};

class OpenclKernel : public Kernel {
  public:
    OpenclKernel(ContextPointer context, const KernelVariant& variant, const std::string& name)
        : context_(std::move(context)) {
        const char* text = variant.source.opencl.data();
        const std::size_t length = variant.source.opencl.size();
        Status status = kSuccess;
        program_ = driver().create_program(context_->handle(), 1, &text, &length, &status);
        context_->check(status, "clCreateProgramWithSource");
        build(variant, name);
        kernel_ = driver().create_kernel(program_, name.c_str(), &status);
        context_->check(status, "clCreateKernel");
    }
    ~OpenclKernel() override {
        if (kernel_ != nullptr) driver().release_kernel(kernel_);
        driver().release_program(program_);
    }
    OpenclKernel(const OpenclKernel&) = delete;
    OpenclKernel& operator=(const OpenclKernel&) = delete;

    KernelHandle handle() const { return kernel_; }

  private:
    const Driver& driver() const { return context_->driver(); }

    void build(const KernelVariant& variant, const std::string& name) const {
        const std::string options = "-cl-std=CL1.2 " + variant.options;
        DeviceHandle device = context_->device();
        const Status status = driver().build_program(program_, 1, &device, options.c_str(), nullptr, nullptr);
        if (status == kSuccess) return;
        std::string log(8192, '\0');
        driver().build_info(program_, device, kBuildLog, log.size(), log.data(), nullptr);
        log.resize(log.find('\0'));
        throw DeviceError(fmt::format("{}: building {} ({}) failed with OpenCL error {}: {}", context_->id(),
                                      name, options, status, log));
    }

    ContextPointer context_;
    ProgramHandle program_ = nullptr;
    KernelHandle kernel_ = nullptr;
};

class OpenclEvent : public Event {
  public:
    OpenclEvent(ContextPointer context, EventHandle event) : context_(std::move(context)), event_(event) {}
    ~OpenclEvent() override { context_->driver().release_event(event_); }
    OpenclEvent(const OpenclEvent&) = delete;
    OpenclEvent& operator=(const OpenclEvent&) = delete;

    bool done() override {
        Status state = kSuccess;
        context_->check(
            context_->driver().event_info(event_, kExecutionStatus, sizeof state, &state, nullptr),
            "clGetEventInfo");
        if (state < 0) context_->check(state, "a command before this event");
        return state == kComplete;
    }
    double us_since(Event& earlier) override {
        return static_cast<double>(end_ns() - dynamic_cast<OpenclEvent&>(earlier).end_ns()) / 1000;
    }

  private:
    std::int64_t end_ns() const {
        std::uint64_t ns = 0;
        context_->check(context_->driver().profiling_info(event_, kProfilingEnd, sizeof ns, &ns, nullptr),
                        "clGetEventProfilingInfo");
        return static_cast<std::int64_t>(ns);
    }

    ContextPointer context_;
    EventHandle event_;
};

class OpenclQueue : public Queue {
  public:
    explicit OpenclQueue(ContextPointer context)
        : context_(std::move(context)), queue_(context_->new_queue()) {}
    ~OpenclQueue() override {
        context_->driver().finish(queue_);
        context_->driver().release_queue(queue_);
    }
    OpenclQueue(const OpenclQueue&) = delete;
    OpenclQueue& operator=(const OpenclQueue&) = delete;

    void to_device(DeviceMemory& memory, std::size_t bytes) override {
        dynamic_cast<OpenclMemory&>(memory).to_device(queue_, bytes);
    }
    void to_host(DeviceMemory& memory, std::size_t bytes) override {
        dynamic_cast<OpenclMemory&>(memory).to_host(queue_, bytes);
    }

    void launch(Kernel& kernel, WorkSize size, std::span<const KernelArgument> arguments) override {
        KernelHandle handle = dynamic_cast<OpenclKernel&>(kernel).handle();
        for (unsigned i = 0; i < arguments.size(); ++i) set(handle, i, arguments[i]);
        const std::size_t all = size.groups * size.items_per_group;
        context_->check(context_->driver().launch(queue_, handle, 1, nullptr, &all, &size.items_per_group, 0,
                                                  nullptr, nullptr),
                        "clEnqueueNDRangeKernel");
    }

    std::unique_ptr<Event> mark() override {
        EventHandle event = nullptr;
        context_->check(context_->driver().mark(queue_, 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
        context_->check(context_->driver().flush(queue_), "clFlush");
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
    QueueHandle queue_;
};

class OpenclDevice : public Device {
  public:
    OpenclDevice(const Driver& driver, DeviceHandle device, bool is_fine_grain, DeviceInfo info)
        : Device(info),
          context_(std::make_shared<Context>(driver, device, info.id)),
          is_fine_grain_(is_fine_grain) {}

    // OpenCL does not tell what is free.
    std::size_t free_bytes() override { return info().memory_bytes; }
    std::unique_ptr<Queue> queue() override { return std::make_unique<OpenclQueue>(context_); }
    std::unique_ptr<Kernel> kernel(const KernelVariant& variant, const std::string& name) override {
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

std::vector<DeviceHandle> devices(const Driver& driver, PlatformHandle platform) {
    unsigned count = 0;
    const Status status = driver.devices(platform, kAllTypes, 0, nullptr, &count);
    if (status == kDeviceNotFound) return {};
    driver.check(status, "clGetDeviceIDs", "opencl");
    std::vector<DeviceHandle> all(count);
    driver.check(driver.devices(platform, kAllTypes, count, all.data(), nullptr), "clGetDeviceIDs", "opencl");
    return all;
}

void add_devices(const SharedLibrary& library, FoundDevices& all) {
    const Driver driver(library);
    for (PlatformHandle platform : platforms(driver)) {
        for (DeviceHandle device : devices(driver, platform)) {
            const DeviceInfo info = info_of(driver, device, all.devices.size());
            const bool is_fine_grain = (svm_of(driver, device) & kSvmFineBuffer) != 0;
            all.devices.push_back(
                {info, [=] { return std::make_unique<OpenclDevice>(driver, device, is_fine_grain, info); }});
        }
    }
    if (all.devices.empty())
        all.absent.emplace_back("opencl: the loader is there, and no platform with a device");
}

}  // namespace

FoundDevices find_opencl_devices(const std::string& library) {
    FoundDevices all;
    std::string why;
    const auto opened = SharedLibrary::open(library, why);
    if (!opened) {
        all.absent.push_back(fmt::format("opencl: no loader ({})", why));
        return all;
    }
    try {
        add_devices(*opened, all);
    } catch (const DeviceError& error) {
        all.absent.emplace_back(error.what());
    }
    return all;
}

}  // namespace tidemill::device
