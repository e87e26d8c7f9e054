#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/polyphase.hpp"

namespace tidemill::dsp {

/// Evaluates an endless stream through a PolyphaseBank at evenly spaced places; sample 0 is preceded by
/// silence.
class Resampler {
  public:
    /// Output n is the filtered input at place start + n * step, in input samples; start <= 0, step > 0.
    /// `bank` was made with `taps` taps.
    Resampler(PolyphaseBank bank, std::size_t taps, double start, double step);

    /// Takes more input and appends the outputs that it completes.
    void process(std::span<const Iq> in, std::vector<Iq>& out);

    /// From the next output on, outputs are `step` apart.
    void set_step(double step);

    /// Appends the outputs that still depend on the input, whose end is followed by silence.
    void finish(std::vector<Iq>& out);

  private:
    double place_in_pending() const;
    void produce(std::size_t count, std::vector<Iq>& out);

    PolyphaseBank bank_;
    std::size_t half_;  // taps / 2
    double start_;
    double step_;
    std::uint64_t produced_ = 0;
    std::int64_t pending_begin_;  // number of the first pending input sample
    std::vector<Iq> pending_;
};

}  // namespace tidemill::dsp
