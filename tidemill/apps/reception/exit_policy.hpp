#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemill::cli {

/// Condition of a reception, for the decision whether it is worth going on.
struct RxVitals {
    double time_s = 0;  ///< since the start
    bool locked = false;
    std::uint64_t samples = 0;
    std::uint64_t packets_lost = 0;
    std::uint64_t frames_bad = 0;
};

/// When a reception is to end by itself: "no-lock:60s", "no-samples:10s", "packets-lost:100", "frames-bad:5".
struct ExitPolicy {
    enum class Kind { no_lock, no_samples, packets_lost, frames_bad };
    Kind kind{};
    double limit = 0;  ///< seconds, or how many
    std::string text{};
};

/// Reads what --exit-on names; throws WrongUsage.
ExitPolicy parse_exit_policy(const std::string& text);

/// Looks at a reception from time to time, and remembers since when something has been missing.
class ExitPolicies {
  public:
    explicit ExitPolicies(std::vector<ExitPolicy> policies) : policies_(std::move(policies)) {}

    /// The first limit that was reached, in a sentence; nothing while none was.
    std::optional<std::string> look(const RxVitals& now);

    /// Seconds for which there has been no lock, since the start or since it was lost.
    double unlocked_s() const { return unlocked_s_; }
    bool was_locked() const { return was_locked_; }

    /// Seconds for which no samples have come.
    double silent_s() const { return silent_s_; }

  private:
    bool is_true(const ExitPolicy& policy, const RxVitals& now) const;

    std::vector<ExitPolicy> policies_;
    bool was_locked_ = false;
    double locked_at_s_ = 0;
    double unlocked_s_ = 0;
    std::uint64_t samples_ = 0;
    double samples_at_s_ = 0;
    double silent_s_ = 0;
};

}  // namespace tidemill::cli
