#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/apps/reception/counted_source.hpp"
#include "tidemill/apps/reception/exit_policy.hpp"
#include "tidemill/apps/reception/rx_line.hpp"
#include "tidemill/apps/reception/status_lines.hpp"
#include "tidemill/apps/running/service_manager.hpp"

namespace tidemill::cli {

/// Looks after a reception from its first moment on: reports when a lock comes and goes, ends it by policy,
/// and reports to systemd that it is ready and alive. Alive is a reception whose samples move on, or that
/// waits for them; a standstill anywhere else is not. Of several carriers there is a lock while one of them
/// has one, and what they lost is added up.
class RxGuard {
  public:
    /// `alone`: the process is there for this reception; else nothing is reported. `seconds`: how long it may
    /// run; this ends one that gets nothing, which never comes to where its time is looked at, and one whose
    /// first samples take longer to come.
    RxGuard(std::vector<ExitPolicy> policies, bool alone, std::optional<double> seconds);
    ~RxGuard();

    /// While it lives, the carriers of a receiver are looked after.
    class Watched {
      public:
        Watched(RxGuard& guard, std::vector<StatusSources> carriers, const CountedSource& samples);
        Watched(const Watched&) = delete;
        Watched& operator=(const Watched&) = delete;
        ~Watched();

      private:
        RxGuard& guard_;
    };

    /// Some of the first samples have come.
    void samples_came();
    /// All of these are there; what is in them is found out, and no more are read meanwhile.
    void samples_are_there();
    /// There was no signal in them, and more are read.
    void samples_are_awaited();

    /// How often it looks; of a recording the locks as often in its own time, by look_for_locks() of the
    /// thread that reads.
    static constexpr double kPeriod_s = 0.25;
    void look_for_locks();

    /// Since the reception was asked for.
    double elapsed_s() const { return ticks_.elapsed_s(); }

    /// The policy that ended the reception, in a sentence; nothing while none has.
    std::optional<std::string> ended_by() const;
    /// Whether that, or its time, has ended it, and no user.
    bool has_ended_it() const;

  private:
    struct Carrier {
        StatusSources asked;
        LockTeller locks;
    };
    struct Parts {
        std::vector<Carrier> carriers;
        const CountedSource& samples;
    };

    LockTeller lock_teller(std::optional<std::size_t> carrier) const;
    void look(double now_s);
    std::vector<RxView> views_at(double now_s);
    void judge(const RxVitals& now);
    bool is_beyond_its_time() const;
    bool waits_beyond_its_time() const;
    void give_up_first_samples();
    void tell_manager(double now_s, bool alive, const std::string& state);
    bool is_alive();

    mutable std::mutex mutex_;
    ExitPolicies policies_;
    ServiceManager manager_;
    bool alone_;
    std::optional<double> seconds_;
    std::optional<Parts> parts_{};
    std::optional<std::string> ended_by_{};
    bool is_over_ = false;
    std::uint64_t beginning_ = 0;  // grows while the first samples come, and are looked into
    bool looks_into_samples_ = false;
    bool awaits_signal_ = false;  // there was none in the first
    bool gave_up_ = false;
    double now_s_ = 0;
    double began_s_ = 0;  // of what runs by now
    double told_life_s_ = 0;
    double told_state_s_ = 0;
    std::uint64_t samples_ = 0;
    Every ticks_;
};

}  // namespace tidemill::cli
