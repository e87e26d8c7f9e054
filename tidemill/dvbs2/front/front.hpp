#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/strobe_interpolator.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"
#include "tidemill/dvbs2/front/front_coarse.hpp"
#include "tidemill/dvbs2/front/front_filter.hpp"
#include "tidemill/dvbs2/front/front_timing.hpp"
#include "tidemill/dvbs2/front/internal/kept_queue.hpp"

namespace tidemill::dvbs2 {

/// What the front saw and could not use.
struct FrontReport {
    std::uint64_t samples = 0;         // taken in
    std::uint64_t symbols = 0;         // given out
    std::uint64_t dropped_blocks = 0;  // held no signal, or no symbol clock
    std::uint64_t restarts = 0;        // stretches of adjoining symbols
    double frequency = 0.0;            // last one taken out, cycles per symbol
    double clock_ppm = 0.0;            // last clock offset of the transmitter
};

/// Raw samples to symbols at one sample each, all stages of the front in order on one thread.
class Front {
  public:
    using Sink = std::function<void(const SymbolBlock&)>;

    /// `sink` gets every block of symbols, in order; `restart` marks the first of an adjoining stretch.
    Front(const FrontConfig& config, Sink sink);

    /// Takes more samples, any number of them.
    void push(std::span<const Iq> samples);

    /// End of the stream: everything still on its way comes out.
    void finish();

    const FrontReport& report() const { return report_; }

  private:
    struct RawBlock {
        dsp::AlignedVector<Iq> samples;  // with history
        std::uint32_t valid = 0;
    };

    void run_block();
    void settle_raw(KeptBlocks decision);
    void settle_filtered(KeptBlocks decision);

    FrontGeometry geometry_;
    Sink sink_;
    CoarseFrequency coarse_;
    FrontFilter filter_;
    TimingTracker timing_;
    dsp::StrobeInterpolator interpolator_;
    FrontReport report_;

    std::int64_t block_ = 0;
    std::uint32_t filled_ = 0;
    dsp::AlignedVector<Iq> window_;  // history and the block being filled
    KeptQueue<RawBlock> kept_raw_;
    KeptQueue<FilteredBlock> kept_filtered_;
    SymbolBlock symbols_;
};

/// All symbols of a whole recording, one after the other.
std::vector<Iq> receive_symbols(const FrontConfig& config, std::span<const Iq> samples,
                                FrontReport* report = nullptr);

}  // namespace tidemill::dvbs2
