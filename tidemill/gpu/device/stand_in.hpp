#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tidemill/gpu/device/device.hpp"

namespace tidemill {

/// A kernel of a stand-in device: a function of the host, and how long a device would take.
struct StandInKernel {
    std::function<void(WorkSize size, std::span<const KernelArgument> arguments)> function;
    std::function<double(WorkSize size)> us = [](WorkSize) { return 0.0; };
};

/// How a stand-in device is made, and what goes wrong.
struct StandInOptions {
    std::map<std::string, StandInKernel> kernels{};
    std::vector<MemoryPolicy> policies{memory_policies().begin(), memory_policies().end()};
    double us_per_kilobyte = 0;  ///< of copies, each way
    std::size_t memory_bytes = std::size_t{1} << 30U;
    /// Order of the queues that could go on: as on most devices the one whose work was sent first does, else
    /// one that the seed chooses, so that work is done in any order.
    bool first_sent_first = false;
    unsigned seed = 1;
    /// The call of that number, from 1 on, throws; 0: none. Calls of the device, its queues and events count
    /// alike.
    std::uint64_t fails_at_call = 0;
    /// Number of the call whose work is never done; 0: all is.
    std::uint64_t hangs_at_call = 0;
    /// The host may not touch memory that is the device's: an access is ended by the system.
    bool guards_memory = false;
};

/// A device without hardware, for tests: what is sent off is done by a thread of its own, copies in, kernels
/// and copies out beside each other and each in the time that it is said to take, queues in an order of the
/// seed or as they were sent off.
class StandInDevice : public Device {
  public:
    explicit StandInDevice(StandInOptions options);
    ~StandInDevice() override;

    /// How many calls there have been.
    std::uint64_t calls() const;
    /// Memory that a kernel finds in its argument.
    static std::span<std::byte> bytes(const KernelArgument& argument);
    template <class T>
    static std::span<T> as(const KernelArgument& argument) {
        const std::span<std::byte> all = bytes(argument);
        return {reinterpret_cast<T*>(all.data()), all.size() / sizeof(T)};
    }

    std::size_t free_bytes() override;
    std::unique_ptr<DeviceKernel> kernel(const KernelVariant& variant, const std::string& name) override;
    std::unique_ptr<DeviceQueue> queue() override;

    class Engine;

  protected:
    std::unique_ptr<DeviceMemory> allocate_checked(std::size_t bytes, MemoryPolicy policy) override;

  private:
    std::shared_ptr<Engine> engine_;
};

}  // namespace tidemill
