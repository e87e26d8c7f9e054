#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/dvbs2/sync/frame_info.hpp"

namespace tidemill::dvbs2 {

/// Reach of a channel that is learned, in symbols beside the one that is received.
inline constexpr std::size_t kChannelBehind = 15;  // echoes
inline constexpr std::size_t kChannelAhead = 8;    // what comes before the path that the clock follows
inline constexpr std::size_t kChannelTaps = kChannelBehind + 1 + kChannelAhead;

/// Effect of the way from sender to receiver on symbols of unit power.
struct ChannelEstimate {
    using Complex = std::complex<double>;

    /// By how much of each symbol is received at a time, the oldest first: of the one that is received then,
    /// response[kChannelBehind].
    std::array<Complex, kChannelTaps> response{};
    double noise = 0;         // power beside that
    double interference = 0;  // power that comes of other symbols, less what noise alone looks like
    double evidence = 0;      // how many times as much as noise alone; 1 on average without any
    double symbols = 0;       // known ones it rests on

    Complex main() const { return response[kChannelBehind]; }
};

/// Learns the channel from the known symbols of many frames, by least squares: their neighbours are known for
/// the most part, too, and what is not is noise. No decisions are asked, which would be wrong just where an
/// equaliser is needed most.
class ChannelLearner {
  public:
    /// The scrambler gives the pilots' values.
    explicit ChannelLearner(const PlScrambler& scrambler);

    /// Learns from a frame as FrameSync::pop() wrote it; false where it is useless, since pulses have hit
    /// what is known of it.
    bool learn(std::span<const dsp::Iq> frame, const FrameInfo& info);

    /// Power of what the known symbols of the last frame were beside what the channel, as it was known, makes
    /// of them; their own is 1.
    double misfit() const { return misfit_; }

    /// The channel; some more frames are needed where `symbols` is 0.
    ChannelEstimate estimate();

    void forget();

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("gram", gram_)("sums", sums_)("energy", energy_)("symbols", symbols_)("response", response_);
        archive("misfit", misfit_);
    }

  private:
    using Complex = std::complex<double>;
    using Sums = std::array<Complex, kChannelTaps>;

    struct Block {
        int place;
        std::span<const dsp::Iq> references;
    };

    void find_blocks(const Pls& pls);
    const std::vector<Complex>& gram_of(const Pls& pls);
    Sums sums_of(std::span<const dsp::Iq> frame, const Block& block, double frequency) const;

    const PlScrambler* scrambler_;
    std::vector<Block> blocks_{};                    // of the frame
    std::array<std::vector<Complex>, 128> grams_{};  // by PLS code, made when first needed
    std::vector<Complex> gram_, solved_;             // of all frames so far; scratch
    Sums sums_{};
    double energy_ = 0;
    double symbols_ = 0;
    double misfit_ = 0;
    std::array<Complex, kChannelTaps> response_{};  // by which blocks agree about their phases
};

/// The strongest path beside the one that the clock follows.
struct ObservedEcho {
    double symbols = 0;  // behind the other
    double gain_db = 0;  // over it
};

ObservedEcho strongest_echo(const ChannelEstimate& channel);

}  // namespace tidemill::dvbs2
