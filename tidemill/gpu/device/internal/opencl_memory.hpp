#pragma once

#include <optional>

#include "tidemill/gpu/device/device.hpp"
#include "tidemill/gpu/device/internal/host_pages.hpp"
#include "tidemill/gpu/device/internal/opencl_context.hpp"

namespace tidemill::device::opencl {

/// The host may touch memory that it holds mapped; kernels may touch the rest.
class OpenclMemory : public DeviceMemory {
  public:
    OpenclMemory(ContextPointer context, std::size_t bytes, MemoryPolicy policy, bool is_fine_grain);
    ~OpenclMemory() override;
    OpenclMemory(const OpenclMemory&) = delete;
    OpenclMemory& operator=(const OpenclMemory&) = delete;

    void to_device(QueueHandle queue, std::size_t bytes);
    void to_device(QueueHandle queue, std::size_t first_byte, const HostRows& rows) const;
    void to_host(QueueHandle queue, std::size_t bytes);
    void set_as_argument(KernelHandle kernel, unsigned index) const;

  private:
    bool is_copied() const { return policy() == MemoryPolicy::copy || policy() == MemoryPolicy::pinned; }
    bool is_mappable() const {
        return policy() == MemoryPolicy::mapped || (policy() == MemoryPolicy::managed && !is_fine_grain_);
    }
    void use_pages();
    Owned<MemoryHandle> new_buffer(Flags flags, std::size_t bytes, void* host_pointer) const;
    void allocate_staging();
    void allocate_shared();
    Status map(QueueHandle queue, unsigned blocking);
    Status unmap(QueueHandle queue);

    ContextPointer context_;
    bool is_fine_grain_;
    bool is_mapped_ = false;
    std::optional<HostPages> pages_{};
    Owned<MemoryHandle> buffer_{};
    Owned<MemoryHandle> staging_{};
    bool is_staging_mapped_ = false;
    void* shared_ = nullptr;
};

}  // namespace tidemill::device::opencl
