#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dsp/byte_samples.hpp"
#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"

namespace tidemill::dvbs2 {

/// Zeroes short pulses that are far stronger than what is around them: a symbol that is known to be lost
/// costs a decoder less than one that is wrong. What it does to a window depends on nothing but the window; a
/// modulated signal, clipped or not, is never as strong for so short a time.
class PulseBlanker {
  public:
    explicit PulseBlanker(const FrontGeometry& geometry);

    /// The power that a sample of the signal is known to have, in the mean and where it was strongest lately;
    /// 0: nothing is known.
    struct Known {
        double mean = 0, loudest = 0;
    };

    /// Zeroes pulses in `window` and returns how many samples of those from `first` on. Where a signal that
    /// is known begins or ends, it is no pulse.
    std::uint32_t blank(std::span<Iq> window, std::size_t first, const Known& known);
    void blank(std::span<Iq> window) { blank(window, 0, {}); }

    /// Whether that would zero nothing for sure, as of nearly all windows; then nothing was zeroed last.
    bool leaves_alone(std::span<const Iq> window);
    bool leaves_alone(std::span<const dsp::Ci8> window);

    /// Zeroes once more what was zeroed last, of which something else has changed the values since.
    void blank_again(std::span<Iq> window) const;

    /// Samples that were zeroed last, from the first to the one behind the last.
    struct Run {
        std::size_t begin, end;
    };
    std::span<const Run> runs() const { return runs_; }

  private:
    double usual_power(std::span<const Iq> window);
    void find_runs(std::span<const Iq> window, float power);
    bool is_in_burst(const Run& run, float power);
    void join_runs();
    Run widened(Run run, std::span<const Iq> window, float power) const;

    std::size_t group_samples_;
    std::size_t longest_samples_;  // what is longer is no pulse
    std::vector<float> powers_{}, sorted_{};
    std::vector<Run> runs_{};
};

}  // namespace tidemill::dvbs2
