#include "tidemill/machine/energy_watch.hpp"

#include <utility>

#include <fmt/format.h>

#include "tidemill/base/guard.hpp"

namespace tidemill {

EnergyWatch::EnergyWatch(EnergyMeter* meter, std::chrono::milliseconds period) : meter_(meter) {
    if (!meter_) return;
    begin_ = end_ = std::chrono::steady_clock::now();
    note(internal::thrown_by([&] {
        meter_->start(begin_);
        samples_ = std::make_unique<Repeated>(period, [this] { return sample(), true; });
    }));
}

EnergyUse EnergyWatch::stop() {
    if (const auto samples = std::exchange(samples_, nullptr)) {
        samples->end();
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

void EnergyWatch::sample() {
    if (!failure_.empty()) return;
    note(internal::thrown_by([this] {
        end_ = std::chrono::steady_clock::now();
        meter_->sample(end_);
    }));
}

}  // namespace tidemill
