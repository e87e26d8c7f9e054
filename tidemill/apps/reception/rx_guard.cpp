#include "tidemill/apps/reception/rx_guard.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tidemill/apps/running/watch.hpp"
#include "tidemill/base/plain_text.hpp"

namespace tidemill::cli {

namespace {

constexpr double kStatePeriod_s = 10;
constexpr double kWaits_s = 1;  // a reception without samples for so long waits

RxVitals vitals_of(const std::vector<RxView>& views, std::uint64_t samples, double now_s) {
    RxVitals vitals{.time_s = now_s, .samples = samples};
    for (const RxView& view : views) {
        vitals.locked |= view.now.locked;
        vitals.packets_lost += view.ts.continuity_errors;
        vitals.frames_bad += view.now.totals.frames_bad;
    }
    return vitals;
}

std::string state_text(const std::vector<RxView>& views) {
    if (views.size() == 1) return state_line(views.front());
    const auto locked = std::ranges::count_if(views, [](const RxView& view) { return view.now.locked; });
    return fmt::format("{} of {} carriers locked", locked, views.size());
}

}  // namespace

RxGuard::RxGuard(std::vector<ExitPolicy> policies, bool alone, std::optional<double> seconds)
    : policies_(std::move(policies)),
      manager_(alone ? ServiceManager() : ServiceManager("")),
      alone_(alone),
      seconds_(seconds),
      ticks_(std::chrono::milliseconds(std::lround(1000 * kPeriod_s)),
             [this](double now_s) { look(now_s); }) {}

RxGuard::~RxGuard() {
    manager_.tell("STOPPING=1");
}

LockTeller RxGuard::lock_teller(std::optional<std::size_t> carrier) const {
    const std::string whose = carrier ? fmt::format("carrier {}   ", *carrier) : "";
    return LockTeller([alone = alone_, whose](const std::string& line) {
        if (alone) Watch::tell_line(whose + line);
    });
}

RxGuard::Watched::Watched(RxGuard& guard, std::vector<StatusSources> carriers, const CountedSource& samples)
    : guard_(guard) {
    std::vector<Carrier> watched;
    for (StatusSources& asked : carriers) {
        const auto number = asked.carrier;
        watched.push_back({std::move(asked), guard.lock_teller(number)});
    }
    {
        const std::lock_guard lock(guard.mutex_);
        guard.parts_.emplace(Parts{std::move(watched), samples});
        guard.began_s_ = guard.now_s_;
    }
    guard.manager_.tell("READY=1");
}

RxGuard::Watched::~Watched() {
    const std::lock_guard lock(guard_.mutex_);
    for (Carrier& carrier : guard_.parts_->carriers)
        carrier.locks.end(carrier.asked.status.view_at(guard_.now_s_));
    guard_.parts_.reset();
    guard_.is_over_ = true;
}

void RxGuard::samples_came() {
    const std::lock_guard lock(mutex_);
    ++beginning_;
}

void RxGuard::samples_are_there() {
    const std::lock_guard lock(mutex_);
    looks_into_samples_ = true;
}

void RxGuard::samples_are_awaited() {
    const std::lock_guard lock(mutex_);
    looks_into_samples_ = false;
    awaits_signal_ = true;
}

std::optional<std::string> RxGuard::ended_by() const {
    const std::lock_guard lock(mutex_);
    return ended_by_;
}

bool RxGuard::has_ended_it() const {
    const std::lock_guard lock(mutex_);
    return ended_by_ || is_beyond_its_time();
}

void RxGuard::look(double now_s) {
    const std::lock_guard lock(mutex_);
    now_s_ = now_s;
    if (is_over_) return;
    if (!parts_) {
        if (looks_into_samples_) ++beginning_;
        judge({.time_s = now_s, .samples = beginning_});
        if (!looks_into_samples_ && is_beyond_its_time()) give_up_first_samples();
        // Until the first samples are there, systemd must not lose its patience either.
        tell_manager(now_s, true, "EXTEND_TIMEOUT_USEC=60000000\nSTATUS=waiting for the first samples");
        return;
    }
    const std::vector<RxView> views = views_at(now_s);
    judge(vitals_of(views, parts_->samples.samples(), now_s));
    tell_manager(now_s, is_alive(), "STATUS=" + plain_line(state_text(views)));
}

void RxGuard::look_for_locks() {
    const std::lock_guard lock(mutex_);
    if (parts_) views_at(now_s_);
}

std::vector<RxView> RxGuard::views_at(double now_s) {
    std::vector<RxView> views;
    for (Carrier& carrier : parts_->carriers) {
        views.push_back(carrier.asked.status.view_at(now_s));
        carrier.locks.look(views.back());
    }
    return views;
}

void RxGuard::judge(const RxVitals& now) {
    if (!ended_by_) ended_by_ = policies_.look(now);
    // Each time: the user's signals may not be listened to yet.
    if (ended_by_ || waits_beyond_its_time()) ask_to_end();
}

bool RxGuard::is_beyond_its_time() const {
    return seconds_ && now_s_ - began_s_ >= *seconds_;
}

bool RxGuard::waits_beyond_its_time() const {
    return is_beyond_its_time() && policies_.silent_s() >= kWaits_s;
}

// Slow inputs take long to bring what is looked at before anything is received.
void RxGuard::give_up_first_samples() {
    if (alone_ && beginning_ > 0 && !std::exchange(gave_up_, true))
        Watch::tell_line(
            awaits_signal_
                ? "--seconds: the time was over before a signal was found"
                : "--seconds: the time was over before all samples had come that are looked at first");
    ask_to_end();
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
