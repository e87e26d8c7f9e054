#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/cli/rx/counted_source.hpp"
#include "tidemill/cli/rx/exit_policy.hpp"
#include "tidemill/cli/rx/rx_line.hpp"
#include "tidemill/cli/rx/rx_status.hpp"
#include "tidemill/cli/service_manager.hpp"

namespace tidemill::cli {

/// Looks after a reception from its first moment on: says when a lock comes and goes, ends it by policy, and
/// tells systemd that it is ready and alive. Alive is a reception whose samples move on, or that waits for
/// them; a standstill anywhere else is none.
class RxGuard {
  public:
    /// `alone`: the process is there for this reception; else nobody is told anything.
    RxGuard(std::vector<ExitPolicy> policies, bool alone);
    ~RxGuard();

    /// While it lives, a receiver is looked after.
    class Watched {
      public:
        Watched(RxGuard& guard, const dvbs2::Receiver& receiver, const io::TsMonitor& packets,
                const io::SampleRing* ring, const CountedSource& samples);
        Watched(const Watched&) = delete;
        Watched& operator=(const Watched&) = delete;
        ~Watched();

      private:
        RxGuard& guard_;
    };

    /// The policy that ended the reception, in a sentence; nothing while none has.
    std::optional<std::string> ended_by() const;

  private:
    struct Parts {
        RxStatus status;
        const CountedSource& samples;
    };

    void look(double now_s);
    void judge(const RxVitals& now);
    void tell_manager(double now_s, bool alive, const std::string& state);
    bool is_alive();

    mutable std::mutex mutex_;
    ExitPolicies policies_;
    ServiceManager manager_;
    LockTeller locks_;
    std::optional<Parts> parts_{};
    std::optional<std::string> ended_by_{};
    bool is_over_ = false;
    double now_s_ = 0;
    double told_life_s_ = 0;
    double told_state_s_ = 0;
    std::uint64_t samples_ = 0;
    Every ticks_;
};

}  // namespace tidemill::cli
