#pragma once

#include <optional>

#include "tidemill/gpu/device/device.hpp"
#include "tidemill/gpu/device/internal/cuda_gpu.hpp"
#include "tidemill/gpu/device/internal/host_pages.hpp"

namespace tidemill::device::cuda {

class CudaMemory : public DeviceMemory {
  public:
    CudaMemory(GpuPointer gpu, std::size_t bytes, MemoryPolicy policy);
    ~CudaMemory() override;
    CudaMemory(const CudaMemory&) = delete;
    CudaMemory& operator=(const CudaMemory&) = delete;

    /// For kernels.
    Address address() const { return address_; }
    void to_device(StreamHandle stream, std::size_t bytes) const;
    void to_device(StreamHandle stream, std::size_t first_byte, const HostRows& rows) const;
    void to_host(StreamHandle stream, std::size_t bytes) const;

  private:
    bool is_copied() const { return policy() == MemoryPolicy::copy || policy() == MemoryPolicy::pinned; }
    void use_pages();
    void allocate_on_device();
    void allocate_locked();
    void allocate_managed();
    void prefetch(Ordinal to, StreamHandle stream, std::size_t bytes) const;

    GpuPointer gpu_;
    Address address_ = 0;
    std::optional<HostPages> pages_{};
    Owned<Address> on_device_{};
    Owned<void*> locked_{};
};

}  // namespace tidemill::device::cuda
