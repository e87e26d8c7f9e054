#include "tidemill/dsp/resampler.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace tidemill::dsp {

Resampler::Resampler(PolyphaseBank bank, std::size_t taps, double start, double step)
    : bank_(std::move(bank)),
      half_(taps / 2),
      start_(start),
      step_(step),
      pending_begin_(static_cast<std::int64_t>(std::floor(start)) - static_cast<std::int64_t>(half_ - 1)),
      pending_(static_cast<std::size_t>(-pending_begin_)) {
    assert(start <= 0.0 && step > 0.0);
}

void Resampler::set_step(double step) {
    assert(step > 0.0);
    start_ += static_cast<double>(std::exchange(produced_, 0)) * step_;
    step_ = step;
}

// The next output's place, counted as the bank does: 0 is where the first pending sample meets the first tap.
double Resampler::place_in_pending() const {
    const auto origin = pending_begin_ + static_cast<std::int64_t>(half_ - 1);
    return start_ - static_cast<double>(origin) + static_cast<double>(produced_) * step_;
}

void Resampler::process(std::span<const Iq> in, std::vector<Iq>& out) {
    pending_.insert(pending_.end(), in.begin(), in.end());
    const double room =
        static_cast<double>(pending_.size()) - static_cast<double>(bank_.reach()) - place_in_pending();
    if (room >= 0.0) {
        produce(static_cast<std::size_t>(room / step_) + 1, out);
    }
}

void Resampler::finish(std::vector<Iq>& out) {
    const auto input_end = static_cast<double>(pending_.size()) - static_cast<double>(half_ - 1);
    pending_.resize(pending_.size() + half_ + bank_.reach());
    const double last = input_end - 1.0 + static_cast<double>(half_);
    if (last >= place_in_pending()) {
        produce(static_cast<std::size_t>((last - place_in_pending()) / step_) + 1, out);
    }
}

void Resampler::produce(std::size_t count, std::vector<Iq>& out) {
    out.resize(out.size() + count);
    bank_.evaluate(pending_, place_in_pending(), step_, std::span(out).last(count));
    produced_ += count;
    const auto used = std::min(static_cast<std::size_t>(place_in_pending()), pending_.size());
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(used));
    pending_begin_ += static_cast<std::int64_t>(used);
}

}  // namespace tidemill::dsp
