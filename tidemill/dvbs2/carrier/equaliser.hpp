#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dvbs2/carrier/channel_learner.hpp"
#include "tidemill/dvbs2/sync/frame_info.hpp"

namespace tidemill::dvbs2 {

using dsp::Iq;

/// Reach of the equaliser, in symbols beside the one that is wanted.
inline constexpr std::size_t kEqualiserBefore = 31;
inline constexpr std::size_t kEqualiserBehind = 16;
inline constexpr std::size_t kEqualiserTaps = kEqualiserBefore + 1 + kEqualiserBehind;

/// Correction of a frame against echoes.
struct EqualiserTaps {
    std::uint32_t on = 0;                       // 0: nothing
    float header_bias = 0;                      // see header_bias(); 0 where pilots show the frequency
    std::array<Iq, kEqualiserTaps> taps{};      // of the symbols around one, the first first
    std::array<Iq, kEqualiserBefore> before{};  // the symbols in front of the frame; zeros where unknown
};

/// The linear filter that leaves the least of noise and other symbols together. At one tap a symbol, since
/// the clock follows the line of the symbol rate in the received signal, where the two edges of its band add
/// up best: for echoes of -6 dB two taps a symbol would win 0.06 dB on average. False where there is none.
bool make_equaliser(const ChannelEstimate& channel, std::span<Iq, kEqualiserTaps> taps);

/// Filters frames; what it keeps between them is scratch.
class Equaliser {
  public:
    /// The frame, with the header behind it where one is, equalised; the carrier stays in it.
    std::span<const Iq> apply(std::span<const Iq> frame, const FrameInfo& info, const EqualiserTaps& by);

  private:
    dsp::AlignedVector<Iq> heard_, equalised_;
};

}  // namespace tidemill::dvbs2
