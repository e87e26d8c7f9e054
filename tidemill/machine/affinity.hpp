#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/machine/pu_set.hpp"
#include "tidemill/machine/topology.hpp"

namespace tidemill {

/// Why the system did not pin: its error number (errno), and words for a report.
struct PinError {
    int code = 0;
    std::string reason = {};
};

/// Keeps the calling thread on these PUs. On an error its affinity is as before and the run may go on.
std::optional<PinError> pin_this_thread(std::span<const Pu> pus);

/// Lets the calling thread run on every PU of the topology again.
std::optional<PinError> unpin_this_thread(const Topology& topology);

/// The operating-system numbers the calling thread may run on now, ascending; empty when unknown.
std::vector<int> affinity_of_this_thread();

/// Pins the thread that makes it and, in the same thread, restores the affinity from before.
class PinGuard {
  public:
    explicit PinGuard(std::span<const Pu> pus);
    ~PinGuard();
    PinGuard(const PinGuard&) = delete;
    PinGuard& operator=(const PinGuard&) = delete;

    /// Why the thread is not pinned; nothing when it is.
    const std::optional<PinError>& error() const { return error_; }

  private:
    std::vector<int> previous_;
    std::optional<PinError> error_;
};

}  // namespace tidemill
