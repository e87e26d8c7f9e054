#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tidemill/gpu/device/kernel_source.hpp"
#include "tidemill/gpu/device/memory_policy.hpp"

namespace tidemill {

/// Description of a device.
struct DeviceInfo {
    std::string id;      ///< "cuda:0", "opencl:1": what a user names it by
    std::string name;    ///< the maker's
    std::string kind;    ///< "gpu", "cpu" or "accelerator"
    std::string driver;  ///< its version, and what it takes kernels as
    std::size_t memory_bytes = 0;
    std::size_t local_bytes = 0;  ///< that the items of a group share, at most
    int compute_units = 0;
    bool shares_memory = false;  ///< its memory is the host's
    std::vector<MemoryPolicy> policies;
    std::string pci{};      ///< its place there, "0000:3b:00.0"; empty: unknown
    std::string same_as{};  ///< id by which another platform has listed it before; empty: none has

    bool has(MemoryPolicy policy) const;
};

/// Bytes that kernels use, reached by the host as the policy says. Must not outlive its device.
class DeviceMemory {
  public:
    virtual ~DeviceMemory() = default;
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    MemoryPolicy policy() const { return policy_; }
    std::size_t bytes() const { return bytes_; }
    /// Memory that the host reads and writes; empty when resident. Not to be touched from
    /// DeviceQueue::to_device on until what follows a DeviceQueue::to_host is done.
    std::span<std::byte> host() const { return host_; }
    template <class T>
    std::span<T> host_as() const {
        return {reinterpret_cast<T*>(host_.data()), host_.size() / sizeof(T)};
    }

  protected:
    DeviceMemory(MemoryPolicy policy, std::size_t bytes) : policy_(policy), bytes_(bytes) {}
    void set_host(void* begin) { host_ = {static_cast<std::byte*>(begin), bytes_}; }

  private:
    friend class Device;

    MemoryPolicy policy_;
    std::size_t bytes_;
    std::span<std::byte> host_;
    std::shared_ptr<void> managed_{};  // counts it for as long as it lives
};

/// A function that runs on the device.
class DeviceKernel {
  public:
    virtual ~DeviceKernel() = default;
    DeviceKernel() = default;
    DeviceKernel(const DeviceKernel&) = delete;
    DeviceKernel& operator=(const DeviceKernel&) = delete;
};

/// Memory that the items of a group share for as long as they run.
struct LocalBytes {
    std::size_t bytes;
};

/// Argument of a kernel, in the order of its parameters.
using KernelArgument = std::variant<DeviceMemory*, std::int32_t, std::uint32_t, LocalBytes>;

/// How many work groups, and items in each.
struct WorkSize {
    std::size_t groups;
    std::size_t items_per_group;
};

/// Rows of bytes that lie one pitch apart on the host.
struct HostRows {
    const std::byte* first;
    std::size_t pitch;
    std::size_t row_bytes;
    std::size_t rows;
};

/// A place in a queue.
class DeviceEvent {
  public:
    virtual ~DeviceEvent() = default;
    DeviceEvent() = default;
    DeviceEvent(const DeviceEvent&) = delete;
    DeviceEvent& operator=(const DeviceEvent&) = delete;

    /// Whether all before it in its queue is done. Throws DeviceError when something there failed.
    virtual bool done() = 0;
    /// Device time between two events that are done.
    virtual double us_since(DeviceEvent& earlier) = 0;
    /// Nobody waits any more for what is before it, for it may never be done: whatever the device may still
    /// use is left to it, and never given back.
    virtual void give_up() {}
};

/// Work for a device in order. One thread at a time. Ends when what it was sent is done, or given up; until
/// then the memory and the kernels that this names must live.
class DeviceQueue {
  public:
    virtual ~DeviceQueue() = default;
    DeviceQueue() = default;
    DeviceQueue(const DeviceQueue&) = delete;
    DeviceQueue& operator=(const DeviceQueue&) = delete;

    /// Makes the first `bytes` that the host has written available to the kernels that follow. With 0 the
    /// memory is theirs, and nothing is copied.
    virtual void to_device(DeviceMemory& memory, std::size_t bytes) = 0;
    /// Rows that the host has elsewhere lie one behind the other in `memory`, from a byte on, for the kernels
    /// that follow: one copy. They must stay as they are until it is done. For memory under copy and pinned.
    virtual void to_device(DeviceMemory& memory, std::size_t first_byte, const HostRows& rows) = 0;
    /// Makes the first `bytes` that kernels have written available to the host once this is done. With 0 the
    /// memory is the host's again, and nothing is copied. Under MemoryPolicy::copy it may wait, for as long
    /// as it takes, for what is before it: ask that first.
    virtual void to_host(DeviceMemory& memory, std::size_t bytes) = 0;
    /// A kernel may be in several queues, launched by one thread at a time.
    virtual void launch(DeviceKernel& kernel, WorkSize size, std::span<const KernelArgument> arguments) = 0;
    /// Sends off what is waiting here, and marks the place behind it.
    virtual std::unique_ptr<DeviceEvent> mark() = 0;
};

/// A machine of its own memory that runs kernels for the host. Threads may share it; a queue, no.
class Device {
  public:
    explicit Device(DeviceInfo info) : info_(std::move(info)) {}
    virtual ~Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const DeviceInfo& info() const { return info_; }
    virtual std::size_t free_bytes() = 0;
    /// Throws DeviceError when the device lacks the policy, DeviceMemoryError when it lacks the memory: of
    /// what moves by itself, all together, it has a quarter of what is free.
    std::unique_ptr<DeviceMemory> allocate(std::size_t bytes, MemoryPolicy policy);
    /// Builds the kernel of that name for this device.
    virtual std::unique_ptr<DeviceKernel> kernel(const KernelVariant& variant, const std::string& name) = 0;
    virtual std::unique_ptr<DeviceQueue> queue() = 0;

  protected:
    virtual std::unique_ptr<DeviceMemory> allocate_checked(std::size_t bytes, MemoryPolicy policy) = 0;

  private:
    DeviceInfo info_;
    std::shared_ptr<std::atomic<std::size_t>> managed_bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
};

/// Waits, asleep after a moment, until the event is done. After `limit` gives it up, and throws DeviceError
/// naming `what`: a device that hangs must not hang the program.
void wait_for(DeviceEvent& event, const std::string& what,
              std::chrono::milliseconds limit = std::chrono::seconds(20));

}  // namespace tidemill
