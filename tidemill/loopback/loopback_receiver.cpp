#include "tidemill/loopback/loopback_receiver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemill::loopback {

namespace {

// At once, as radios give them.
constexpr double kPieceS = 0.001;

}  // namespace

LoopbackReceiver::LoopbackReceiver(const LoopbackOptions& options, const Timing& timing,
                                   std::unique_ptr<SampleFeed> feed, io::LiveClock& clock, SharedAir* air)
    : options_(options), timing_(timing), feed_(std::move(feed)), clock_(clock), air_(air) {
    // All of a recording is late; on the air only the listener is.
    if (!air_) timing_.epoch_ns += static_cast<std::int64_t>(options_.late_s * 1e9);
    if (air_ && options_.late_s > 0) options_.timeouts.push_back({0, options_.late_s});
    next_ = options_.fast ? 0 : come();
    const double before_s = static_cast<double>(timing_.begun_ns - timing_.epoch_ns) * 1e-9;
    first_ = options_.fast ? 0 : samples_in(before_s);
}

double LoopbackReceiver::now_s() const {
    return static_cast<double>(clock_.now_ns() - timing_.epoch_ns) * 1e-9;
}

// Text by which events are chosen.
double LoopbackReceiver::stream_s() const {
    return static_cast<double>(clock_.now_ns() - timing_.begun_ns) * 1e-9;
}

std::uint64_t LoopbackReceiver::samples_in(double time_s) const {
    return static_cast<std::uint64_t>(std::max(0.0, std::ceil(time_s * timing_.sample_rate_hz - 1e-6)));
}

// How many samples there have been. Without a clock those that were sent, or, of a recording, all.
std::uint64_t LoopbackReceiver::come() const {
    if (options_.fast) return air_ ? air_->written() : std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(std::max(0.0, std::floor(now_s() * timing_.sample_rate_hz)));
}

std::int64_t LoopbackReceiver::time_ns(std::uint64_t sample) const {
    return static_cast<std::int64_t>(
        std::llround(static_cast<double>(sample) * 1e9 / timing_.sample_rate_hz));
}

bool LoopbackReceiver::is_unplugged() const {
    return std::ranges::any_of(options_.unplugged,
                               [&](const Stretch& each) { return each.holds(stream_s()); });
}

bool LoopbackReceiver::is_silent_until(double& end_s) const {
    for (const Stretch& each : options_.timeouts) {
        if (!each.holds(stream_s())) continue;
        end_s = each.at_s + each.lasts_s;
        return true;
    }
    return false;
}

// False where the time ran out before so many more had come.
bool LoopbackReceiver::wait_for(std::uint64_t samples, std::int64_t wait_ns) {
    const std::uint64_t there = come();
    if (there >= next_ + samples) return true;
    // Without a clock it is another program that is waited for.
    const double missing_ns =
        options_.fast ? kPieceS * 1e9
                      : static_cast<double>(next_ + samples) / timing_.sample_rate_hz * 1e9 - now_s() * 1e9;
    clock_.wait_ns(std::min(wait_ns, static_cast<std::int64_t>(std::ceil(std::max(0.0, missing_ns)))));
    return come() > next_;
}

// Where the next loss that was ordered begins, nothing is read beyond it; where it has, its end.
std::optional<std::uint64_t> LoopbackReceiver::wanted_loss(std::uint64_t& most) {
    while (overflows_done_ < options_.overflows.size()) {
        const Stretch& next = options_.overflows[overflows_done_];
        const std::uint64_t begin = first_ + samples_in(next.at_s);
        const std::uint64_t end = first_ + samples_in(next.at_s + next.lasts_s);
        if (begin > next_) {
            most = std::min(most, begin - next_);
            return {};
        }
        ++overflows_done_;
        if (end > next_) return end;
    }
    return {};
}

ReadOutcome LoopbackReceiver::read(std::span<std::byte> to, std::int64_t wait_ns) {
    if (is_unplugged()) return {.happened = Happened::gone};
    double silent_until_s = 0;
    if (is_silent_until(silent_until_s)) {
        clock_.wait_ns(std::min(wait_ns, static_cast<std::int64_t>((silent_until_s - stream_s()) * 1e9) + 1));
        return {};
    }
    const auto late = static_cast<std::uint64_t>(options_.buffer_s * timing_.sample_rate_hz);
    if (!options_.fast && come() > next_ + late) {
        next_ = come();
        return {.happened = Happened::overflow, .time_ns = time_ns(next_)};
    }
    std::uint64_t most =
        std::min<std::uint64_t>(to.size() / dsp::bytes_per_sample(format()), samples_in(kPieceS) + 1);
    if (const auto end = wanted_loss(most)) {
        next_ = *end;
        return {.happened = Happened::overflow, .time_ns = time_ns(next_)};
    }
    if (!wait_for(most, wait_ns)) return {};
    const std::uint64_t count = std::min(most, come() - next_);
    feed_->read(next_, to.first(count * dsp::bytes_per_sample(format())));
    const ReadOutcome outcome{Happened::samples, count, time_ns(next_)};
    next_ += count;
    if (options_.fast && air_) air_->take(next_);
    return outcome;
}

}  // namespace tidemill::loopback
