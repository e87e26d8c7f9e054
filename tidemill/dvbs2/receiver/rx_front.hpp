#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/sampling_interpolator.hpp"
#include "tidemill/dvbs2/front/agc_steps.hpp"
#include "tidemill/dvbs2/front/coarse_frequency.hpp"
#include "tidemill/dvbs2/front/front_filter.hpp"
#include "tidemill/dvbs2/front/front_strobes.hpp"
#include "tidemill/dvbs2/front/symbol_timing.hpp"
#include "tidemill/dvbs2/front/tone_canceller.hpp"
#include "tidemill/dvbs2/front/tone_watch.hpp"
#include "tidemill/dvbs2/receiver/block_keeper.hpp"
#include "tidemill/dvbs2/receiver/published.hpp"
#include "tidemill/dvbs2/receiver/raw_block.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

/// Measures the spectrum of each raw block, and counts samples that are not usable.
class RxSpectrum final : public Module {
    const RawLayout layout_;

  public:
    explicit RxSpectrum(const RawLayout& layout);

    In<std::byte> raw = in<std::byte>("raw", layout_.window_bytes());
    In<RawInfo> info = in<RawInfo>("info");
    Out<BlockSpectrum> spectrum = out<BlockSpectrum>("spectrum");
    Task measure = task("measure", &RxSpectrum::measure_block, cloned);

    const dsp::SampleDefects& defects() const { return defects_; }
    /// Clipped samples so far, of all replicas; may be read while the receiver runs.
    std::uint64_t live_clipped() const { return live_clipped_->load(std::memory_order_relaxed); }
    void reset_counters() override { defects_ = {}; }
    void merge(Module& clone) override;
    void keep(Archive& archive) override;

  private:
    void measure_block(Frame f);
    void measure_samples(Frame f);
    void measure_bytes(Frame f, std::span<const dsp::Ci8> bytes);
    std::span<const Iq> usable_samples(Frame f);
    void count(const dsp::SampleDefects& found);

    dsp::AlignedVector<Iq> samples_;
    PulseBlanker blanker_;
    AgcSteps steps_;
    dsp::SampleDefects defects_;
    std::shared_ptr<std::atomic<std::uint64_t>> live_clipped_ =
        std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// Keeps raw blocks until a signal is found in them, then gives each its oscillator. What RxSpectrum measures
/// is enough to follow a signal; while there is none it measures the rest itself, and while there are tones
/// it measures without them.
class RxCoarse final : public Module {
    const RawLayout layout_;

  public:
    explicit RxCoarse(const RawLayout& layout);

    In<std::byte> raw_in = in<std::byte>("raw_in", layout_.window_bytes());
    In<RawInfo> info_in = in<RawInfo>("info_in");
    In<BlockSpectrum> spectrum = in<BlockSpectrum>("spectrum");
    Out<std::byte> raw = out<std::byte>("raw", layout_.window_bytes());
    Out<RawInfo> info = out<RawInfo>("info");
    Out<BlockOscillator> oscillator = out<BlockOscillator>("oscillator");
    Task follow = task("follow", &RxCoarse::follow_signal, may_skip, may_repeat, at_end);

    /// Whether a signal is there at the moment.
    bool found() const { return found_.load(std::memory_order_relaxed); }
    /// Frequency that the oscillator took out last, cycles per symbol.
    double frequency() const { return frequency_.load(std::memory_order_relaxed); }
    /// Power that is taken out of I and Q over that of all else in dB, minus infinity for nothing: their
    /// offset (DC), and the image that their imbalance makes.
    double iq_offset_db() const { return iq_offset_db_.load(std::memory_order_relaxed); }
    double iq_image_db() const { return iq_image_db_.load(std::memory_order_relaxed); }
    /// Tones that are being taken out, and those that were last.
    ToneList tones() const { return tones_now_.get(); }
    const ToneList& last_tones() const { return last_tones_; }
    /// Blocks in which no signal was found.
    std::uint64_t dropped_blocks() const { return keeper_.dropped(); }

    void keep(Archive& archive) override;

  private:
    struct Kept {
        std::vector<std::byte> raw;
        RawInfo info;
        ToneList tones;

        void keep(Archive& archive) { archive("raw", raw)("info", info)("tones", tones); }
    };

    void tell();

    Flow follow_signal(Frame f);
    KeptBlocks decide(Frame f);
    void look_for_tones(const RawInfo& block);
    BlockSpectrum measure(Frame f, std::uint32_t every);

    CoarseFrequencyEstimator coarse_;
    ToneWatch tones_;
    ToneCanceller canceller_;
    dsp::AlignedVector<Iq> samples_, chunk_;
    PulseBlanker blanker_;
    ToneList last_tones_{};
    Published<ToneList> tones_now_;
    BlockKeeper<Kept> keeper_;
    std::atomic<bool> found_{false};
    std::atomic<double> frequency_{0};
    std::atomic<double> iq_offset_db_{-std::numeric_limits<double>::infinity()};
    std::atomic<double> iq_image_db_{-std::numeric_limits<double>::infinity()};
};

/// Raw samples to matched-filtered ones at two per symbol, without pulses and tones.
class RxFilter final : public Module {
    const RawLayout layout_;

  public:
    explicit RxFilter(const RawLayout& layout);

    In<std::byte> raw = in<std::byte>("raw", layout_.window_bytes());
    In<RawInfo> info = in<RawInfo>("info");
    In<BlockOscillator> oscillator = in<BlockOscillator>("oscillator");
    Out<FilteredBlock> filtered = out<FilteredBlock>("filtered");
    Task filter = task("filter", &RxFilter::filter_block, cloned);

    /// Samples filtered so far, and those of them that were zeroed because pulses had hit them; of all
    /// replicas, and may be read while the receiver runs.
    std::uint64_t filtered_samples() const { return counts_->samples.load(std::memory_order_relaxed); }
    std::uint64_t blanked_samples() const { return counts_->blanked.load(std::memory_order_relaxed); }
    /// The second over the first; 0 before any.
    double blanked_share() const {
        return static_cast<double>(blanked_samples()) /
               std::max<double>(1, static_cast<double>(filtered_samples()));
    }

    void keep(Archive& archive) override;

  private:
    struct Counts {
        std::atomic<std::uint64_t> samples{0};
        std::atomic<std::uint64_t> blanked{0};
    };

    void filter_block(Frame f);
    std::span<const dsp::Ci8> undisturbed_bytes(Frame f);
    std::span<const Iq> undisturbed_samples(Frame f);

    FrontFilter filter_;
    PulseBlanker blanker_;
    ToneCanceller canceller_;
    dsp::AlignedVector<Iq> samples_;
    std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

/// Blocks of a signal in which its clock was not found, one behind the other.
struct ClocklessBlocks {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// Keeps filtered blocks until their symbol clock is known, then reads the symbols at the sampling_instants.
/// Reading could be a task of its own, for any thread, but a copy of the filtered samples to it takes half as
/// long as the reading.
class RxTiming final : public Module {
  public:
    explicit RxTiming(const FrontGeometry& geometry)
        : Module("timing"), tracker_(geometry.live()), interpolator_(geometry.rolloff()) {}

    In<FilteredBlock> filtered_in = in<FilteredBlock>("filtered_in");
    Out<SymbolBlock> symbols = out<SymbolBlock>("symbols");
    Task track = task("track", &RxTiming::track_clock, may_skip, may_repeat, at_end);

    /// Clock offset of the transmitter, parts per million.
    double clock_ppm() const { return clock_ppm_.load(std::memory_order_relaxed); }
    /// Whether the clock is known; behind a hole in the signal it is not, until it is found again.
    bool locked() const { return locked_.load(std::memory_order_relaxed); }
    /// Blocks in which no symbol clock was found.
    std::uint64_t dropped_blocks() const { return keeper_.dropped(); }
    /// The most of them that there were one behind the other; may be asked while the receiver runs.
    ClocklessBlocks clockless() const { return longest_told_.get(); }

    void keep(Archive& archive) override;

  private:
    Flow track_clock(Frame f);
    KeptBlocks decide(const FilteredInfo& info);
    void count_clockless(const ClocklessBlocks& dropped);
    void tell();

    SymbolTimingLoop tracker_;
    dsp::SamplingInterpolator interpolator_;
    BlockKeeper<FilteredBlock> keeper_;
    std::atomic<double> clock_ppm_{0};
    std::atomic<bool> locked_{false};
    ClocklessBlocks clockless_{}, longest_{};  // the latest, without blocks that may still be of use
    Published<ClocklessBlocks> longest_told_;
};

}  // namespace tidemill::dvbs2
