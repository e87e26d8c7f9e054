#include "tidemill/gpu/device/internal/opencl_memory.hpp"

#include <utility>

#include <fmt/format.h>

#include "tidemill/gpu/device/device_error.hpp"

namespace tidemill::device::opencl {

OpenclMemory::OpenclMemory(ContextPointer context, std::size_t bytes, MemoryPolicy policy, bool is_fine_grain)
    : DeviceMemory(policy, bytes), context_(std::move(context)), is_fine_grain_(is_fine_grain) {
    switch (policy) {
        case MemoryPolicy::copy:
            use_pages();
            buffer_ = new_buffer(0, bytes, nullptr);
            break;
        case MemoryPolicy::pinned:
            buffer_ = new_buffer(0, bytes, nullptr);
            allocate_staging();
            break;
        case MemoryPolicy::mapped:
            use_pages();
            // Drivers map without a copy only what fills whole lines of their caches.
            buffer_ = new_buffer(kUseHostPointer, pages_->bytes(), pages_->data());
            context_->check(map(new_queue(context_).get(), 1), "clEnqueueMapBuffer");
            break;
        case MemoryPolicy::managed:
            allocate_shared();
            break;
        case MemoryPolicy::system:
            use_pages();
            break;
        case MemoryPolicy::prefetched:
        case MemoryPolicy::resident:
            buffer_ = new_buffer(0, bytes, nullptr);
            break;
    }
}

// Nothing can be done here about what fails.
OpenclMemory::~OpenclMemory() {
    if (context_->is_given_up()) {
        if (pages_) pages_->leave();
        return;
    }
    const Driver& driver = context_->driver();
    if (is_mapped_ || is_staging_mapped_) {
        Status status = kSuccess;
        QueueHandle queue = driver.create_queue(context_->handle(), context_->device(), 0, &status);
        if (status != kSuccess) return;
        if (is_mapped_) unmap(queue);
        if (is_staging_mapped_) driver.unmap(queue, staging_.get(), host().data(), 0, nullptr, nullptr);
        driver.finish(queue);
        driver.release_queue(queue);
    }
    if (shared_ != nullptr) driver.svm_release(context_->handle(), shared_);
}

void OpenclMemory::use_pages() {
    pages_.emplace(bytes());
    set_host(pages_->data());
}

Owned<MemoryHandle> OpenclMemory::new_buffer(Flags flags, std::size_t size, void* host_pointer) const {
    Status status = kSuccess;
    MemoryHandle buffer =
        context_->driver().create_buffer(context_->handle(), kReadWrite | flags, size, host_pointer, &status);
    context_->check(status, "clCreateBuffer");
    return {context_, buffer, &Driver::release_memory};
}

// Memory of the host that the driver has locked stays mapped for as long as it lives.
void OpenclMemory::allocate_staging() {
    staging_ = new_buffer(kAllocateOnHost, bytes(), nullptr);
    Status status = kSuccess;
    void* begin = context_->driver().map_buffer(new_queue(context_).get(), staging_.get(), 1, kMapReadWrite,
                                                0, bytes(), 0, nullptr, nullptr, &status);
    context_->check(status, "clEnqueueMapBuffer");
    is_staging_mapped_ = true;
    set_host(begin);
}

void OpenclMemory::allocate_shared() {
    const Flags flags = kReadWrite | (is_fine_grain_ ? kFineGrain : 0);
    shared_ = context_->driver().svm_allocate(context_->handle(), flags, bytes(), 0);
    if (shared_ == nullptr) {
        throw DeviceMemoryError(
            fmt::format("{}: clSVMAlloc of {} bytes failed: use smaller batches, or another policy",
                        context_->id(), bytes()));
    }
    set_host(shared_);
    if (is_fine_grain_) return;
    const Status status = map(new_queue(context_).get(), 1);
    if (status == kSuccess) return;
    context_->driver().svm_release(context_->handle(), std::exchange(shared_, nullptr));
    context_->check(status, "clEnqueueSVMMap");
}

void OpenclMemory::to_device(QueueHandle queue, std::size_t count) {
    if (is_copied()) {
        if (count == 0) return;
        const unsigned blocking = policy() == MemoryPolicy::copy ? 1 : 0;
        context_->check(context_->driver().write_buffer(queue, buffer_.get(), blocking, 0, count,
                                                        host().data(), 0, nullptr, nullptr),
                        "clEnqueueWriteBuffer");
    } else if (is_mapped_) {
        context_->check(unmap(queue), "unmapping");
    }
}

// The buffer is a row for each of the host's.
void OpenclMemory::to_device(QueueHandle queue, std::size_t first_byte, const HostRows& rows) const {
    const std::size_t origin[3] = {first_byte % rows.row_bytes, first_byte / rows.row_bytes, 0};
    const std::size_t host_origin[3] = {0, 0, 0};
    const std::size_t region[3] = {rows.row_bytes, rows.rows, 1};
    context_->check(
        context_->driver().write_rows(queue, buffer_.get(), 0, origin, host_origin, region, rows.row_bytes, 0,
                                      rows.pitch, 0, rows.first, 0, nullptr, nullptr),
        "clEnqueueWriteBufferRect");
}

void OpenclMemory::to_host(QueueHandle queue, std::size_t count) {
    if (is_copied()) {
        if (count == 0) return;
        const unsigned blocking = policy() == MemoryPolicy::copy ? 1 : 0;
        context_->check(context_->driver().read_buffer(queue, buffer_.get(), blocking, 0, count,
                                                       host().data(), 0, nullptr, nullptr),
                        "clEnqueueReadBuffer");
    } else if (is_mappable() && !is_mapped_) {
        context_->check(map(queue, 0), "mapping");
    }
}

void OpenclMemory::set_as_argument(KernelHandle kernel, unsigned index) const {
    if (buffer_) {
        MemoryHandle buffer = buffer_.get();
        context_->check(context_->driver().set_argument(kernel, index, sizeof buffer, &buffer),
                        "clSetKernelArg");
    } else {
        context_->check(context_->driver().set_svm_argument(kernel, index, host().data()),
                        "clSetKernelArgSVMPointer");
    }
}

Status OpenclMemory::map(QueueHandle queue, unsigned blocking) {
    Status status = kSuccess;
    if (buffer_) {
        context_->driver().map_buffer(queue, buffer_.get(), blocking, kMapReadWrite, 0, bytes(), 0, nullptr,
                                      nullptr, &status);
    } else {
        status =
            context_->driver().svm_map(queue, blocking, kMapReadWrite, shared_, bytes(), 0, nullptr, nullptr);
    }
    is_mapped_ = status == kSuccess;
    return status;
}

Status OpenclMemory::unmap(QueueHandle queue) {
    is_mapped_ = false;
    return buffer_ ? context_->driver().unmap(queue, buffer_.get(), host().data(), 0, nullptr, nullptr)
                   : context_->driver().svm_unmap(queue, shared_, 0, nullptr, nullptr);
}

}  // namespace tidemill::device::opencl
