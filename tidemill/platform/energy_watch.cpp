#include "tidemill/platform/energy_watch.hpp"

#include <utility>

#include <fmt/format.h>

#include "tidemill/guard.hpp"
#include "tidemill/platform/start_thread.hpp"

namespace tidemill {

EnergyWatch::EnergyWatch(EnergyMeter* meter, std::chrono::milliseconds period)
    : meter_(meter), period_(period) {
    if (!meter_) return;
    begin_ = end_ = std::chrono::steady_clock::now();
    note(internal::thrown_by([this] {
        meter_->start(begin_);
        thread_ = start_thread([this](std::stop_token stop) { sample_until(std::move(stop)); });
    }));
}

EnergyUse EnergyWatch::stop() {
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
        sample();
    }
    EnergyUse use;
    if (!meter_) return use;
    note(internal::thrown_by([&] { measure(use); }));
    if (!failure_.empty()) use.not_measured = fmt::format("{}: {}", use.meter, failure_);
    return use;
}

void EnergyWatch::note(const std::exception_ptr& failure) {
    if (failure) failure_ = message_of(failure);
}

// A counter that stands still (as on some virtual machines) has measured nothing; it is no proof of 0 joules.
void EnergyWatch::measure(EnergyUse& use) const {
    use.meter = meter_->name();
    use.seconds = std::chrono::duration<double>(end_ - begin_).count();
    if (!failure_.empty()) return;
    use.domains.assign(meter_->domains().begin(), meter_->domains().end());
    double joules = 0;
    for (const EnergyDomain& domain : use.domains) joules += domain.in_total ? domain.joules : 0;
    if (joules > 0) {
        use.joules = joules;
        use.not_measured.clear();
    } else {
        use.not_measured = fmt::format("{}: stood still for {:.3g} s", use.meter, use.seconds);
    }
}

void EnergyWatch::sample_until(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        wake_.wait_for(lock, stop, period_, [] { return false; });
        if (!stop.stop_requested()) sample();
    }
}

void EnergyWatch::sample() {
    if (!failure_.empty()) return;
    note(internal::thrown_by([this] {
        end_ = std::chrono::steady_clock::now();
        meter_->sample(end_);
    }));
}

}  // namespace tidemill
