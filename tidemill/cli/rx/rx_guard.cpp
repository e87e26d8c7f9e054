#include "tidemill/cli/rx/rx_guard.hpp"

#include <chrono>

#include <fmt/format.h>

#include "tidemill/cli/plain_text.hpp"
#include "tidemill/cli/watch.hpp"

namespace tidemill::cli {

namespace {

constexpr std::chrono::milliseconds kGuardPeriod{250};
constexpr double kStatePeriod_s = 10;

}  // namespace

RxGuard::RxGuard(std::vector<ExitPolicy> policies, bool alone)
    : policies_(std::move(policies)),
      manager_(alone ? ServiceManager() : ServiceManager("")),
      locks_([alone](const std::string& line) {
          if (alone) Watch::tell_line(line);
      }),
      ticks_(kGuardPeriod, [this](double now_s) { look(now_s); }) {}

RxGuard::~RxGuard() {
    manager_.tell("STOPPING=1");
}

RxGuard::Watched::Watched(RxGuard& guard, const dvbs2::Receiver& receiver, const io::TsMonitor& packets,
                          const io::SampleRing* ring, const CountedSource& samples)
    : guard_(guard) {
    {
        const std::lock_guard lock(guard.mutex_);
        guard.parts_.emplace(RxStatus(receiver, packets, ring), samples);
    }
    guard.manager_.tell("READY=1");
}

RxGuard::Watched::~Watched() {
    const std::lock_guard lock(guard_.mutex_);
    guard_.locks_.end(guard_.parts_->status.view_at(guard_.now_s_));
    guard_.parts_.reset();
    guard_.is_over_ = true;
}

std::optional<std::string> RxGuard::ended_by() const {
    const std::lock_guard lock(mutex_);
    return ended_by_;
}

void RxGuard::look(double now_s) {
    const std::lock_guard lock(mutex_);
    now_s_ = now_s;
    if (is_over_) return;
    if (!parts_) {
        judge({.time_s = now_s});
        // Until the first samples are there, systemd must not lose its patience either.
        tell_manager(now_s, true, "EXTEND_TIMEOUT_USEC=60000000\nSTATUS=waiting for the first samples");
        return;
    }
    const RxView view = parts_->status.view_at(now_s);
    locks_.look(view);
    judge({.time_s = now_s,
           .locked = view.now.locked,
           .samples = parts_->samples.samples(),
           .packets_lost = view.ts.continuity_errors,
           .frames_bad = view.now.totals.frames_bad});
    tell_manager(now_s, is_alive(), "STATUS=" + plain_line(state_line(view)));
}

void RxGuard::judge(const RxVitals& now) {
    if (!ended_by_) ended_by_ = policies_.look(now);
    // Each time: the user's signals may not be listened to yet.
    if (ended_by_) ask_to_end();
}

bool RxGuard::is_alive() {
    const std::uint64_t samples = parts_->samples.samples();
    const bool alive = samples != samples_ || parts_->samples.waits();
    samples_ = samples;
    return alive;
}

void RxGuard::tell_manager(double now_s, bool alive, const std::string& state) {
    if (!manager_.listens()) return;
    const auto patience = manager_.patience();
    const double patience_s = patience ? std::chrono::duration<double>(*patience).count() : 0;
    if (patience && alive && now_s - told_life_s_ >= patience_s / 3) {
        manager_.tell("WATCHDOG=1");
        told_life_s_ = now_s;
    }
    if (told_state_s_ > 0 && now_s - told_state_s_ < kStatePeriod_s) return;
    manager_.tell(state);
    told_state_s_ = now_s;
}

}  // namespace tidemill::cli
