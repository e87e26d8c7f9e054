#include "tidemill/scheduling/unequal/stretch.hpp"

#include <algorithm>
#include <ctime>
#include <thread>
#include <utility>

#include "tidemill/machine/relax.hpp"
#include "tidemill/machine/tick_clock.hpp"

namespace tidemill::bridge {

namespace {

// By which a timer is late, mostly.
constexpr std::chrono::nanoseconds kLate{200'000};

double in_ns(std::chrono::nanoseconds time) {
    return static_cast<double>(time.count());
}

}  // namespace

// The first to ask what a tick lasts waits for it: not a call.
Stretch::Stretch(const std::vector<double>& ratios, By by)
    : calls_(ratios.begin(), ratios.end()), ns_per_tick_(ns_per_tick()), by_(by) {}

std::int64_t Stretch::cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

Stretch::Begun Stretch::begin(const Stretched& stretched) {
    const bool is_short = stretched.usual_ns > 0 && stretched.usual_ns < in_ns(kShort);
    const std::int64_t cpu = is_short ? 0 : cpu_ns();
    return {ticks(), cpu};
}

// The next call behind a doubtful one is looked at.
double Stretch::taken_ns(const Begun& begun, Stretched& stretched) const {
    constexpr double kDoubtful = 4;
    double taken = static_cast<double>(ticks() - begun.tick) * ns_per_tick_;
    if (begun.cpu_ns != 0) {
        taken = std::min(taken, static_cast<double>(cpu_ns() - begun.cpu_ns));
    } else if (taken > kDoubtful * stretched.usual_ns) {
        return std::exchange(stretched.usual_ns, 0);
    }
    stretched.usual_ns = stretched.usual_ns == 0 ? taken : (3 * stretched.usual_ns + taken) / 4;
    return taken;
}

void Stretch::pass(double ns) {
    owed_ns_ += ns;
    if (by_ == By::sleeping) {
        if (owed_ns_ >= in_ns(kGrain)) sleep(owed_ns_);
        return;
    }
    if (owed_ns_ >= in_ns(kLong)) sleep(owed_ns_ - in_ns(kLate));
    spin();
    owed_ns_ = 0;
}

// Lightly: on a machine with two hardware threads a core, the other one may be the big core.
void Stretch::spin() {
    const std::uint64_t start = ticks();
    while (static_cast<double>(ticks() - start) * ns_per_tick_ < owed_ns_) relax();
}

void Stretch::sleep(double ns) {
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<std::int64_t>(ns)));
    owed_ns_ -=
        static_cast<double>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
}

}  // namespace tidemill::bridge
