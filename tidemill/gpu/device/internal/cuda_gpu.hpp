#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "tidemill/gpu/device/internal/cuda_driver.hpp"

namespace tidemill::device::cuda {

/// The driver, a GPU's primary context, and what a message about it begins with.
class Gpu {
  public:
    Gpu(const Driver& driver, Ordinal ordinal, std::string id)
        : driver_(driver), ordinal_(ordinal), id_(std::move(id)) {
        check(driver_.retain_context(&context_, ordinal_), "cuDevicePrimaryCtxRetain");
    }
    ~Gpu() {
        if (!is_given_up()) driver_.release_context(ordinal_);
    }
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    /// A function that may be called from any thread makes the context that thread's own.
    const Driver& enter() const {
        check(driver_.set_context(context_), "cuCtxSetCurrent");
        return driver_;
    }
    /// The same for a release, where nothing can be done about a failure.
    const Driver& enter_to_leave() const {
        driver_.set_context(context_);
        return driver_;
    }
    /// It hangs: nothing is given back from here on, since that would wait for it.
    void give_up() const { is_given_up_.store(true, std::memory_order_relaxed); }
    bool is_given_up() const { return is_given_up_.load(std::memory_order_relaxed); }
    Ordinal ordinal() const { return ordinal_; }
    const std::string& id() const { return id_; }
    void check(Status status, const char* call) const { driver_.check(status, call, id_); }

  private:
    Driver driver_;
    Ordinal ordinal_;
    std::string id_;
    ContextHandle context_ = nullptr;
    mutable std::atomic<bool> is_given_up_{false};
};

using GpuPointer = std::shared_ptr<const Gpu>;

/// Something of the driver's, given back with this.
template <class Handle>
class Owned {
  public:
    using Release = Status (*Driver::*)(Handle);

    Owned() = default;
    Owned(GpuPointer gpu, Handle handle, Release release)
        : gpu_(std::move(gpu)), handle_(handle), release_(release) {}
    Owned(Owned&& other) noexcept { *this = std::move(other); }
    Owned& operator=(Owned&& other) noexcept {
        std::swap(gpu_, other.gpu_);
        std::swap(handle_, other.handle_);
        std::swap(release_, other.release_);
        return *this;
    }
    ~Owned() {
        if (gpu_ && !gpu_->is_given_up()) (gpu_->enter_to_leave().*release_)(handle_);
    }

    Handle get() const { return handle_; }

  private:
    GpuPointer gpu_{};
    Handle handle_{};
    Release release_ = nullptr;
};

}  // namespace tidemill::device::cuda
