#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>

namespace tidemill {

/// Calls a function again and again on a thread of its own, which works for the runs that the making thread
/// works for.
class Repeated {
  public:
    /// After each `period`, until `work` says false or throws. Throws NoMoreThreads.
    Repeated(std::chrono::nanoseconds period, std::function<bool()> work);
    ~Repeated();
    Repeated(const Repeated&) = delete;
    Repeated& operator=(const Repeated&) = delete;

    /// Waits until it has ended. Returns what `work` threw. In a forked process, and in the thread itself, it
    /// is left alone.
    std::exception_ptr end();

  private:
    struct State;

    std::unique_ptr<State> state_;
};

}  // namespace tidemill
