#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tidemill/apps/reception/page/iq_saver.hpp"
#include "tidemill/io/live/sample_ring.hpp"
#include "tidemill/io/live/sample_source.hpp"
#include "tidemill/machine/tick_clock.hpp"

namespace tidemill::cli {

/// Samples as they come from another source, counted; any thread may ask how many there were, what time it is
/// there, and whether more are waited for.
class CountedSource final : public io::SampleSource {
  public:
    /// `ring`: of a live input, which knows what is waited for; null: a file, of which all reading is work.
    explicit CountedSource(io::SampleSource& from, const io::SampleRing* ring = nullptr)
        : from_(from), ring_(ring), waited_before_us_(ring ? waited_us(*ring) : 0) {}

    dsp::SampleFormat format() const override { return from_.format(); }
    std::optional<double> sample_rate_hz() const override { return from_.sample_rate_hz(); }
    io::BandMove moved() const override { return from_.moved(); }
    double seconds_at(double sample) const override { return from_.seconds_at(sample); }
    std::uint64_t restarts() const override { return from_.restarts(); }
    std::vector<io::SourceControl> controls() const override { return from_.controls(); }
    void control(std::size_t index, double value) override { from_.control(index, value); }
    std::size_t read(std::span<std::byte> to) override {
        const std::uint64_t start = ticks();
        waits_since_.store(start, std::memory_order_relaxed);
        const std::size_t got = from_.read(to);
        waits_since_.store(0, std::memory_order_relaxed);
        if (got == 0) has_ended_.store(true, std::memory_order_relaxed);
        if (iq_) iq_->take(to.first(got));
        samples_.fetch_add(got / dsp::bytes_per_sample(format()), std::memory_order_relaxed);
        look();
        return got;
    }

    /// Shows each sample to the saver; null: there is no saver. Before the first is read.
    void also_to(IqSaver* iq) { iq_ = iq; }

    /// Calls somebody each time that so many samples more have come, from the thread that reads. Before the
    /// first is read.
    void each(std::uint64_t samples, std::function<void()> look) {
        looks_.push_back({.period = samples, .next = samples, .look = std::move(look)});
    }
    /// The same by their time.
    void each_seconds(double seconds, std::function<void()> look) {
        each(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seconds * rate_hz())), std::move(look));
    }

    /// Ring of a live input; null: a recording.
    const io::SampleRing* ring() const { return ring_; }
    /// The time of what is received: of a recording the place up to which it has been read, in seconds,
    /// however fast that is; of a live input that of the clock on the wall, which gives `now_s`.
    double time_s(double now_s) const { return ring_ ? now_s : static_cast<double>(samples()) / rate_hz(); }

    bool has_ended() const { return has_ended_.load(std::memory_order_relaxed); }
    std::uint64_t samples() const { return samples_.load(std::memory_order_relaxed); }
    /// Time of calls that was no work: of waits that are over, and of looks.
    double idle_us() const {
        const double looked_us = to_ns(looked_ticks_.load(std::memory_order_relaxed)) / 1e3;
        return waiting_us() + looked_us;
    }
    /// Time that samples of a live input were waited for, with the wait that lasts.
    double waiting_us() const { return ring_ ? waited_us(*ring_) - waited_before_us_ : 0; }
    bool waits() const { return waits_since_.load(std::memory_order_relaxed) > 0; }

  private:
    static double waited_us(const io::SampleRing& ring) {
        return std::chrono::duration<double, std::micro>(ring.waited()).count();
    }

    struct Look {
        std::uint64_t period, next;
        std::function<void()> look;
    };

    double rate_hz() const { return from_.sample_rate_hz().value_or(1); }

    void look() {
        for (Look& one : looks_) {
            if (samples() < one.next) continue;
            one.next = samples() + one.period;
            const std::uint64_t start = ticks();
            one.look();
            looked_ticks_.fetch_add(ticks() - start, std::memory_order_relaxed);
        }
    }

    io::SampleSource& from_;
    const io::SampleRing* ring_;
    double waited_before_us_;
    IqSaver* iq_ = nullptr;
    std::vector<Look> looks_{};
    std::atomic<bool> has_ended_{false};
    std::atomic<std::uint64_t> samples_{0};
    std::atomic<std::uint64_t> looked_ticks_{0};
    std::atomic<std::uint64_t> waits_since_{0};  // a tick; 0: it does not
};

}  // namespace tidemill::cli
