#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tidemill/gpu/device/device.hpp"
#include "tidemill/gpu/offload/resident_rows.hpp"
#include "tidemill/runtime/graph/module.hpp"
#include "tidemill/scheduling/static/batch_line.hpp"

namespace tidemill {

/// How and where the frames of a DeviceMap are changed.
struct DeviceMapping {
    std::shared_ptr<Device> device;
    KernelVariant source;
    std::string kernel;                        ///< called as increment_rows is
    MemoryPolicy memory = MemoryPolicy::copy;  ///< by which frames cross, there and back
    std::shared_ptr<ResidentRows> from{};      ///< where the task before it leaves them; null: they cross
    std::shared_ptr<ResidentRows> to{};        ///< where it leaves them for the next; null: they cross
    std::uint32_t most_frames = 16;            ///< of a batch
    std::uint32_t in_flight = kBatchesUnderWay;
    std::chrono::milliseconds patience = std::chrono::seconds(20);  ///< a batch that takes longer hangs
};

/// Work of a DeviceMap so far.
struct DeviceMapUse {
    std::uint64_t frames = 0;
    std::uint64_t batches = 0;
    std::uint64_t found = 0;  ///< frames that were there already
    std::uint64_t left = 0;   ///< and that stayed
};

/// Turns the numbers of each frame into as many others by a kernel on a device, batch by batch. Of two such
/// tasks on one device, where the one's output is the other's input and nobody else's, the first may leave
/// its frames there (DeviceMapping::to) for the second (from), with the same ResidentRows: then nothing is
/// copied in between, and what the host has there is of no use.
class DeviceMap final : public Module {
  public:
    /// Throws DeviceError where the device cannot do it, and where rows are of another device or size.
    DeviceMap(std::string name, std::size_t numbers, DeviceMapping mapping);

    In<std::uint32_t> in;
    Out<std::uint32_t> out;
    Task map;

    const DeviceMapUse& use() const { return use_; }

  private:
    // State of a batch, and what it needs on its way.
    struct Place {
        std::unique_ptr<DeviceMemory> in, out, rows;
        std::unique_ptr<DeviceQueue> queue;  // behind the memory: what is under way ends before that goes
        std::unique_ptr<DeviceEvent> computed, end;
        std::optional<ResidentRows::Rows> found, left;
    };

    void begin_batch(Batch batch, std::size_t place);
    bool is_batch_done(std::size_t place);
    void end_batch(Batch batch, std::size_t place);

    Place new_place() const;
    void check(const std::shared_ptr<ResidentRows>& rows) const;
    void check_found(Batch batch, const ResidentRows::Rows& rows) const;
    void bring(Batch batch, Place& place) const;
    void send_rows(std::size_t frames, Place& place) const;
    void launch(std::size_t frames, Place& place);
    void send_back(std::size_t frames, Place& place) const;
    void wait(DeviceEvent& event, std::size_t frames) const;
    std::size_t bytes_of(std::size_t frames) const { return frames * in.count * sizeof(std::uint32_t); }

    DeviceMapping mapping_;
    std::unique_ptr<DeviceKernel> kernel_;
    std::vector<Place> places_;
    DeviceMapUse use_;
};

}  // namespace tidemill
