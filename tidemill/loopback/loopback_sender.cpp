#include "tidemill/loopback/loopback_sender.hpp"

#include <algorithm>
#include <cmath>

namespace tidemill::loopback {

namespace {

// From the first sample that is written until it leaves, so that more can follow in time.
constexpr double kLeadS = 0.02;
constexpr std::int64_t kOtherProgramNs = 1'000'000;

}  // namespace

// How many have left.
std::uint64_t LoopbackSender::left() const {
    if (options_.fast) return air_.taken();
    const double time_s = static_cast<double>(clock_.now_ns() - air_.epoch_ns()) * 1e-9;
    return static_cast<std::uint64_t>(std::max(0.0, std::floor(time_s * sample_rate_hz_)));
}

// Without a clock nothing is late.
void LoopbackSender::look_at_clock() {
    if (options_.fast) return;
    if (streams_ && next_ < left()) {
        ++underflows_;
        underflow_ns_ = std::llround(static_cast<double>(next_) * 1e9 / sample_rate_hz_);
        streams_ = false;
    }
    if (!streams_) next_ = std::max(next_, left() + static_cast<std::uint64_t>(kLeadS * sample_rate_hz_));
}

std::uint64_t LoopbackSender::room() {
    const auto most = options_.fast
                          ? air_.capacity() / 2
                          : static_cast<std::uint64_t>((kLeadS + options_.buffer_s) * sample_rate_hz_);
    const std::uint64_t waiting = next_ - std::min(next_, left());
    return most - std::min(most, waiting);
}

ReadOutcome LoopbackSender::write(std::span<const dsp::Iq> samples, bool last, std::int64_t wait_ns) {
    look_at_clock();
    if (room() == 0) {
        const auto wanted_ns =
            options_.fast ? kOtherProgramNs
                          : std::llround(static_cast<double>(std::min<std::size_t>(samples.size(), 4096)) *
                                         1e9 / sample_rate_hz_);
        clock_.wait_ns(std::min<std::int64_t>(wait_ns, wanted_ns));
    }
    const std::uint64_t count = std::min<std::uint64_t>(samples.size(), room());
    if (count == 0) return {};
    air_.write(next_, samples.first(count));
    next_ += count;
    streams_ = !(last && count == samples.size());
    return {Happened::samples, count, 0};
}

ReadOutcome LoopbackSender::status() {
    look_at_clock();
    if (underflows_ == 0) return {};
    --underflows_;
    return {Happened::underflow, 0, underflow_ns_};
}

}  // namespace tidemill::loopback
