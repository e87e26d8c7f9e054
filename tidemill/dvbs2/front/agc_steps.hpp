#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/byte_samples.hpp"
#include "tidemill/dsp/lag_correlation.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"

namespace tidemill::dvbs2 {

/// Finds where in a window of raw samples the receiver's gain changes: signal and noise become stronger or
/// weaker together, by 2 dB or more. What changes the spectrum as well, a signal that begins, fades or gets a
/// neighbour, is left alone.
class AgcSteps {
  public:
    explicit AgcSteps(const FrontGeometry& geometry);

    /// Those between samples `begin` and `end` of the window; what is exactly 0 is silence and counts for
    /// nothing. In the stream's first window a signal may just begin.
    LevelStepList find(std::span<const Iq> window, std::size_t begin, std::size_t end, bool is_streams_first);

    /// Whether there may be any, in one pass: worth to find().
    bool may_hold_one(std::span<const Iq> window) { return powers_differ(window); }
    bool may_hold_one(std::span<const dsp::Ci8> window) { return powers_differ(window); }

  private:
    struct Stretch {
        std::size_t first, last;        // groups
        bool is_streams_first = false;  // a signal may begin in it
    };

    template <class Sample>
    bool powers_differ(std::span<const Sample> window);
    void add_up(std::span<const Iq> part);
    double mean(std::size_t first, std::size_t last) const;
    std::size_t best_cut(const Stretch& stretch) const;
    double gain_of_cut(const Stretch& stretch, std::size_t cut) const;
    std::size_t exact_place(std::span<const Iq> part, const Stretch& stretch, std::size_t cut) const;
    bool is_same_spectrum(std::span<const Iq> before, std::span<const Iq> after) const;
    std::optional<AgcStep> step_at(std::span<const Iq> part, const Stretch& stretch, std::size_t cut) const;
    void search(const Stretch& stretch);

    dsp::LagSet lags_;
    std::size_t group_samples_;
    std::size_t least_groups_;  // to each side of a step
    std::size_t rough_samples_;
    double independent_;  // of a group's samples
    std::vector<float> rough_{};
    std::vector<double> power_{}, count_{};  // of all groups before
    std::vector<std::size_t> cuts_{};        // groups at which the power changes, and both ends
};

}  // namespace tidemill::dvbs2
