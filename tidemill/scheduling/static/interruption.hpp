#pragma once

#include <stop_token>

#include "tidemill/base/error.hpp"

namespace tidemill {

/// A search, a simulation or a study that was asked to end before it was done.
class Interrupted final : public Error {
  public:
    Interrupted() : Error("interrupted before it was done") {}
};

/// While it lives, searches, simulations and studies on its thread end soon after `stop` asks for it: they
/// throw Interrupted.
class Interruptible {
  public:
    explicit Interruptible(std::stop_token stop);
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

  private:
    std::stop_token stop_;
    const std::stop_token* before_;
};

/// Token that may end the work of this thread; never asks where nobody has made an Interruptible.
std::stop_token interruption();

/// Throws Interrupted when this thread's work was asked to end. Costs a few nanoseconds.
void interruption_point();

}  // namespace tidemill
