#include "tidemill/gpu/device/internal/cuda_memory.hpp"

namespace tidemill::device::cuda {

CudaMemory::CudaMemory(GpuPointer gpu, std::size_t bytes, MemoryPolicy policy)
    : DeviceMemory(policy, bytes), gpu_(std::move(gpu)) {
    switch (policy) {
        case MemoryPolicy::copy:
            use_pages();
            allocate_on_device();
            break;
        case MemoryPolicy::pinned:
            allocate_locked();
            allocate_on_device();
            break;
        case MemoryPolicy::mapped:
            allocate_locked();
            gpu_->check(gpu_->enter().host_address(&address_, locked_.get(), 0), "cuMemHostGetDevicePointer");
            break;
        case MemoryPolicy::managed:
        case MemoryPolicy::prefetched:
            allocate_managed();
            break;
        case MemoryPolicy::system:
            use_pages();
            address_ = reinterpret_cast<Address>(pages_->data());
            break;
        case MemoryPolicy::resident:
            allocate_on_device();
            break;
    }
}

CudaMemory::~CudaMemory() {
    if (pages_ && gpu_->is_given_up()) pages_->leave();
}

void CudaMemory::use_pages() {
    pages_.emplace(bytes());
    set_host(pages_->data());
}

void CudaMemory::allocate_on_device() {
    gpu_->check(gpu_->enter().allocate(&address_, bytes()), "cuMemAlloc");
    on_device_ = {gpu_, address_, &Driver::release};
}

void CudaMemory::allocate_locked() {
    void* begin = nullptr;
    gpu_->check(gpu_->enter().allocate_host(&begin, bytes(), kHostAllocMapped), "cuMemHostAlloc");
    locked_ = {gpu_, begin, &Driver::release_host};
    set_host(begin);
}

void CudaMemory::allocate_managed() {
    gpu_->check(gpu_->enter().allocate_managed(&address_, bytes(), kAttachGlobal), "cuMemAllocManaged");
    on_device_ = {gpu_, address_, &Driver::release};
    set_host(reinterpret_cast<void*>(address_));
}

void CudaMemory::to_device(StreamHandle stream, std::size_t count) const {
    if (count == 0) return;
    if (is_copied()) {
        gpu_->check(gpu_->enter().copy_to_device(address_, host().data(), count, stream),
                    "cuMemcpyHtoDAsync");
    } else if (policy() == MemoryPolicy::prefetched) {
        prefetch(gpu_->ordinal(), stream, count);
    }
}

void CudaMemory::to_device(StreamHandle stream, std::size_t first_byte, const HostRows& rows) const {
    const RowCopy copy{.from_kind = kHostKind,
                       .from_host = rows.first,
                       .from_pitch = rows.pitch,
                       .to_kind = kDeviceKind,
                       .to_device = address_ + first_byte,
                       .to_pitch = rows.row_bytes,
                       .row_bytes = rows.row_bytes,
                       .rows = rows.rows};
    gpu_->check(gpu_->enter().copy_rows(&copy, stream), "cuMemcpy2DAsync");
}

void CudaMemory::to_host(StreamHandle stream, std::size_t count) const {
    if (count == 0) return;
    if (is_copied()) {
        gpu_->check(gpu_->enter().copy_to_host(host().data(), address_, count, stream), "cuMemcpyDtoHAsync");
    } else if (policy() == MemoryPolicy::prefetched) {
        prefetch(kCpu, stream, count);
    }
}

void CudaMemory::prefetch(Ordinal to, StreamHandle stream, std::size_t count) const {
    gpu_->check(gpu_->enter().prefetch(address_, count, to, stream), "cuMemPrefetchAsync");
}

}  // namespace tidemill::device::cuda
