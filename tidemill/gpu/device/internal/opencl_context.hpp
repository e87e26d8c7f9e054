#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "tidemill/gpu/device/internal/opencl_driver.hpp"

namespace tidemill::device::opencl {

/// A device with a context of its own, and what a message about it begins with.
class Context {
  public:
    Context(const Driver& driver, DeviceHandle device, std::string id)
        : driver_(driver), device_(device), id_(std::move(id)) {
        Status status = kSuccess;
        context_ = driver_.create_context(nullptr, 1, &device_, nullptr, nullptr, &status);
        check(status, "clCreateContext");
    }
    ~Context() {
        if (!is_given_up()) driver_.release_context(context_);
    }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// The device hangs: nothing is given back from here on, since that would wait for it.
    void give_up() const { is_given_up_.store(true, std::memory_order_relaxed); }
    bool is_given_up() const { return is_given_up_.load(std::memory_order_relaxed); }
    const Driver& driver() const { return driver_; }
    DeviceHandle device() const { return device_; }
    ContextHandle handle() const { return context_; }
    const std::string& id() const { return id_; }
    void check(Status status, const char* call) const { driver_.check(status, call, id_); }

  private:
    Driver driver_;
    DeviceHandle device_;
    std::string id_;
    ContextHandle context_ = nullptr;
    mutable std::atomic<bool> is_given_up_{false};
};

using ContextPointer = std::shared_ptr<const Context>;

/// Something of the driver's, given back with this.
template <class Handle>
class Owned {
  public:
    using Release = Status (*Driver::*)(Handle);

    Owned() = default;
    Owned(ContextPointer context, Handle handle, Release release)
        : context_(std::move(context)), handle_(handle), release_(release) {}
    Owned(Owned&& other) noexcept { *this = std::move(other); }
    Owned& operator=(Owned&& other) noexcept {
        std::swap(context_, other.context_);
        std::swap(handle_, other.handle_);
        std::swap(release_, other.release_);
        return *this;
    }
    ~Owned() {
        if (context_ && !context_->is_given_up()) (context_->driver().*release_)(handle_);
    }

    Handle get() const { return handle_; }
    explicit operator bool() const { return context_ != nullptr; }

  private:
    ContextPointer context_{};
    Handle handle_{};
    Release release_ = nullptr;
};

inline Owned<QueueHandle> new_queue(const ContextPointer& context) {
    Status status = kSuccess;
    QueueHandle queue =
        context->driver().create_queue(context->handle(), context->device(), kProfiling, &status);
    context->check(status, "clCreateCommandQueue");
    return {context, queue, &Driver::release_queue};
}

}  // namespace tidemill::device::opencl
