#include "tidemill/gpu/device/stand_in.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/internal/host_pages.hpp"
#include "tidemill/gpu/device/internal/stand_in_engine.hpp"

namespace tidemill {
namespace {

using Engine = StandInDevice::Engine;
using EnginePointer = std::shared_ptr<Engine>;

// Both sides have bytes of their own, whatever the policy: what is not sent is not there.
class StandInMemory : public DeviceMemory {
  public:
    StandInMemory(EnginePointer engine, std::size_t bytes, MemoryPolicy policy)
        : DeviceMemory(policy, bytes), engine_(std::move(engine)), on_host_(bytes), on_device_(bytes) {
        engine_->take(bytes);
        if (policy != MemoryPolicy::resident) set_host(on_host_.data());
    }
    ~StandInMemory() override {
        guard(false);
        engine_->give_back(bytes());
    }
    StandInMemory(const StandInMemory&) = delete;
    StandInMemory& operator=(const StandInMemory&) = delete;

    std::span<std::byte> on_device() const { return {on_device_.data(), bytes()}; }
    void give_to_device(std::size_t count) {
        std::memcpy(on_device_.data(), on_host_.data(), count);
        guard(engine_->options().guards_memory);
    }
    void give_rows_to_device(std::size_t first_byte, const HostRows& rows) const {
        for (std::size_t row = 0; row < rows.rows; ++row)
            std::memcpy(on_device_.data() + first_byte + row * rows.row_bytes, rows.first + row * rows.pitch,
                        rows.row_bytes);
    }
    void give_to_host(std::size_t count) {
        guard(false);
        std::memcpy(on_host_.data(), on_device_.data(), count);
    }

  private:
    void guard(bool is_guarded) const {
        if (!engine_->options().guards_memory) return;
        mprotect(on_host_.data(), on_host_.bytes(), is_guarded ? PROT_NONE : PROT_READ | PROT_WRITE);
    }

    EnginePointer engine_;
    device::HostPages on_host_;
    device::HostPages on_device_;
};

class NamedKernel : public DeviceKernel {
  public:
    explicit NamedKernel(StandInKernel kernel) : kernel_(std::move(kernel)) {}
    const StandInKernel& kernel() const { return kernel_; }

  private:
    StandInKernel kernel_;
};

class StandInEvent : public DeviceEvent {
  public:
    StandInEvent(EnginePointer engine, std::shared_ptr<Engine::Clock::time_point> reached,
                 std::function<bool()> is_done)
        : engine_(std::move(engine)), reached_(std::move(reached)), is_done_(std::move(is_done)) {}
    ~StandInEvent() override = default;
    StandInEvent(const StandInEvent&) = delete;
    StandInEvent& operator=(const StandInEvent&) = delete;

    // Only once it is done, so that how often somebody looks does not change the number of calls.
    bool done() override {
        if (!is_done_()) return false;
        if (!is_told_) engine_->call("done");
        is_told_ = true;
        return true;
    }
    double us_since(DeviceEvent& earlier) override {
        const auto began = *dynamic_cast<StandInEvent&>(earlier).reached_;
        return std::chrono::duration<double, std::micro>(*reached_ - began).count();
    }

  private:
    EnginePointer engine_;
    std::shared_ptr<Engine::Clock::time_point> reached_;
    std::function<bool()> is_done_;
    bool is_told_ = false;
};

class StandInQueue : public DeviceQueue {
  public:
    explicit StandInQueue(EnginePointer engine) : engine_(std::move(engine)), line_(engine_->add_line()) {}
    ~StandInQueue() override { engine_->remove(line_); }
    StandInQueue(const StandInQueue&) = delete;
    StandInQueue& operator=(const StandInQueue&) = delete;

    void to_device(DeviceMemory& memory, std::size_t bytes) override {
        const bool hangs = engine_->call("to_device");
        auto& here = dynamic_cast<StandInMemory&>(memory);
        send({unit_of(Engine::Unit::copy_in, bytes), copy_us(bytes),
              [&here, bytes] { here.give_to_device(bytes); }, hangs});
    }
    void to_device(DeviceMemory& memory, std::size_t first_byte, const HostRows& rows) override {
        const bool hangs = engine_->call("to_device");
        const std::size_t bytes = rows.rows * rows.row_bytes;
        auto& here = dynamic_cast<StandInMemory&>(memory);
        send({unit_of(Engine::Unit::copy_in, bytes), copy_us(bytes),
              [&here, first_byte, rows] { here.give_rows_to_device(first_byte, rows); }, hangs});
    }
    void to_host(DeviceMemory& memory, std::size_t bytes) override {
        const bool hangs = engine_->call("to_host");
        auto& here = dynamic_cast<StandInMemory&>(memory);
        send({unit_of(Engine::Unit::copy_out, bytes), copy_us(bytes),
              [&here, bytes] { here.give_to_host(bytes); }, hangs});
    }
    void launch(DeviceKernel& kernel, WorkSize size, std::span<const KernelArgument> arguments) override {
        const bool hangs = engine_->call("launch");
        const StandInKernel& here = dynamic_cast<NamedKernel&>(kernel).kernel();
        send({Engine::Unit::compute, here.us(size),
              [&here, size, all = std::vector(arguments.begin(), arguments.end())] {
                  here.function(size, all);
              },
              hangs});
    }
    std::unique_ptr<DeviceEvent> mark() override {
        engine_->call("mark");
        const auto reached = std::make_shared<Engine::Clock::time_point>();
        const std::uint64_t jobs =
            engine_->send(*line_, {.unit = Engine::Unit::mark, .us = 0, .effect = [] {}, .reached = reached});
        return std::make_unique<StandInEvent>(engine_, reached, [engine = engine_, line = line_, jobs] {
            return engine->is_done(*line, jobs);
        });
    }

  private:
    void send(Engine::Job job) { engine_->send(*line_, std::move(job)); }
    // Where nothing is copied, nothing waits for what copies.
    static Engine::Unit unit_of(Engine::Unit unit, std::size_t bytes) {
        return bytes > 0 ? unit : Engine::Unit::mark;
    }
    double copy_us(std::size_t bytes) const {
        return engine_->options().us_per_kilobyte * static_cast<double>(bytes) / 1024;
    }

    EnginePointer engine_;
    std::shared_ptr<Engine::Line> line_;
};

DeviceInfo info_of(const StandInOptions& options) {
    return {.id = "stand-in",
            .name = "stand-in",
            .kind = "gpu",
            .driver = "threads",
            .memory_bytes = options.memory_bytes,
            .local_bytes = std::size_t{1} << 17U,
            .compute_units = 1,
            .policies = options.policies};
}

}  // namespace

StandInDevice::StandInDevice(StandInOptions options)
    : Device(info_of(options)), engine_(std::make_shared<Engine>(std::move(options))) {}

StandInDevice::~StandInDevice() = default;

std::uint64_t StandInDevice::calls() const {
    return engine_->calls();
}

std::span<std::byte> StandInDevice::bytes(const KernelArgument& argument) {
    return dynamic_cast<const StandInMemory&>(*std::get<DeviceMemory*>(argument)).on_device();
}

std::size_t StandInDevice::free_bytes() {
    return engine_->free_bytes();
}

std::unique_ptr<DeviceKernel> StandInDevice::kernel(const KernelVariant&, const std::string& name) {
    engine_->call("kernel");
    const auto found = engine_->options().kernels.find(name);
    if (found == engine_->options().kernels.end())
        throw DeviceError(fmt::format("stand-in: there is no kernel {}", name));
    return std::make_unique<NamedKernel>(found->second);
}

std::unique_ptr<DeviceQueue> StandInDevice::queue() {
    engine_->call("queue");
    return std::make_unique<StandInQueue>(engine_);
}

std::unique_ptr<DeviceMemory> StandInDevice::allocate_checked(std::size_t bytes, MemoryPolicy policy) {
    engine_->call("allocate");
    return std::make_unique<StandInMemory>(engine_, bytes, policy);
}

}  // namespace tidemill
