#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/sign_interpolator.hpp"

namespace tidemill::dsp {

/// Raises the rate of a stream by a whole number: a polyphase filter, one phase per output sample.
class Interpolator {
  public:
    /// `response(t)` is the filter at t input samples from its middle; it reaches `reach` samples to either
    /// side. `phases` >= 1 outputs per input sample.
    Interpolator(std::size_t reach, std::size_t phases, const std::function<double(double)>& response);

    /// Taps of one phase behind those of the other, 2 * reach each.
    std::span<const float> taps() const { return taps_; }

    /// Input samples that precede the one for which outputs are made.
    std::size_t history() const { return 2 * reach_ - 1; }

    /// Makes `phases` outputs for every sample of `x` behind its first history() ones; the outputs for sample
    /// n lie `reach` samples before it. `out` holds (x.size() - history()) * phases samples.
    void process(std::span<const Iq> x, std::span<Iq> out) const;

  private:
    void filter(std::span<const Iq> x, std::span<Iq> out) const;

    std::size_t reach_;
    std::size_t phases_;
    std::vector<float> taps_;                   // as taps() gives them
    std::optional<SignInterpolator> by_signs_;  // for two phases that are not too long
};

}  // namespace tidemill::dsp
