#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedext/cpus.hpp"

#include "tidemill/steer/kind_requests.hpp"

namespace tidemill::schedext {

/// Why the kernel let a scheduler go.
struct Ending {
    bool restarts = false;  ///< CPUs came or went: it may be attached again
    std::string reason;     ///< in the kernel's words
};

/// The scheduler in the kernel, from being attached until this is destroyed or its process ends, however that
/// happens: then the kernel's own one has all threads again.
class KernelScheduler {
  public:
    /// `object` is a file that clang made for BPF. Throws SchedulerError with the kernel's words where it
    /// refuses.
    KernelScheduler(const std::string& object, const Cpus& cpus);
    ~KernelScheduler();
    KernelScheduler(const KernelScheduler&) = delete;
    KernelScheduler& operator=(const KernelScheduler&) = delete;

    /// `now_ns` is CLOCK_MONOTONIC's.
    std::vector<steer::ThreadAccount> accounts(std::uint64_t now_ns) const;
    void tell(const steer::Wish& wish);
    /// Nothing while it schedules.
    std::optional<Ending> ending() const;

  private:
    struct Loaded;
    std::unique_ptr<Loaded> loaded_;
};

}  // namespace tidemill::schedext
