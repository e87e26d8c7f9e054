#pragma once

#include <complex>
#include <span>
#include <vector>

#include "tidemill/dvbs2/carrier/internal/block_agreement.hpp"
#include "tidemill/dvbs2/carrier/internal/phase_path.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/dvbs2/sync/frame_sync.hpp"
#include "tidemill/dvbs2/sync/internal/known_symbols.hpp"
#include "tidemill/dvbs2/sync/phase_smoother.hpp"

namespace tidemill::dvbs2 {

/// The carrier of one frame: a frequency, and a phase beside it that is known at some places.
struct CarrierTrack {
    double frequency = 0;              // cycles per symbol
    std::vector<PhaseSample> samples;  // what remains of the phase, in order; straight lines between
};

/// Estimates and removes the carrier of one frame at a time; what it keeps between frames is scratch.
///
/// With pilots: one coherent search among the frequencies that the frame's known symbols allow, then the
/// phases of its blocks, smoothed. Without: the phase of powers of the data symbols, followed from the
/// frame's header to the next one along the most likely path; so, too, from pilots to pilots where the phase
/// wanders between them by more than a dense constellation bears.
class Carrier {
  public:
    explicit Carrier(const PlScrambler& scrambler) : scrambler_(&scrambler) {}

    /// Estimates the carrier; `frame` is what FrameSync::pop() wrote.
    void estimate(std::span<const Iq> frame, const FrameInfo& info, CarrierTrack& track);

    /// Writes the data symbols (kMaxDataSymbols) without carrier, scrambling and pilots into `data`, and the
    /// header and the pilots over their known values into `known` (kMaxKnownSymbols); returns how many
    /// each.
    struct Counts {
        std::size_t data, known;
    };
    Counts remove(std::span<const Iq> frame, const FrameInfo& info, const CarrierTrack& track,
                  std::span<Iq> data, std::span<Iq> known) const;

  private:
    void track_known(std::span<const Iq> frame, const FrameInfo& info, CarrierTrack& track);
    double offset_by_data(std::span<const Iq> frame, const FrameInfo& info);
    void fill_gaps(std::span<const Iq> frame, const FrameInfo& info, CarrierTrack& track);
    void add_gap_powers(std::span<const Iq> frame, const FrameInfo& info, const CarrierTrack& track);
    void add_gap_phases(const PhaseSample& from, const PhaseSample& to);
    void add_powers(std::span<const Iq> frame, const CarrierTrack& track, int first, int last, int order);
    void track_data(std::span<const Iq> frame, const FrameInfo& info, CarrierTrack& track);

    const PlScrambler* scrambler_;
    std::vector<internal::KnownPart> parts_;
    std::vector<Iq> upright_;
    std::vector<internal::PowerBlock> powers_;
    std::vector<std::complex<double>> turns_;  // of these
    std::vector<PhaseSample> known_phases_;    // of header, pilots and next header, not smoothed
    std::vector<PhaseSample> gap_phases_;
    std::vector<PhaseSample> all_phases_;
    internal::PathFollower path_;
    PhaseSmoother smoother_;
};

/// Header and pilots of the longest frame.
inline constexpr std::size_t kMaxKnownSymbols = kHeaderSymbols + 22 * kPilotBlockSymbols;

}  // namespace tidemill::dvbs2
