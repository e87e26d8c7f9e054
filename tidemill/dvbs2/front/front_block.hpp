#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/iq_balance.hpp"
#include "tidemill/dsp/lag_correlation.hpp"
#include "tidemill/dvbs2/front/strobe_mark.hpp"

namespace tidemill::dvbs2 {

using dsp::Iq;

/// Settings of a receiver's front.
struct FrontConfig {
    double sample_rate_hz = 2.0;
    double symbol_rate_hz = 1.0;
    double rolloff = 0.20;
    std::uint32_t block_samples = 16384;
    bool live =
        false;  ///< what comes is wanted at once: it locks on no more symbols than a clear signal needs
};

/// Raw samples are handed on in blocks: block i is samples [i * B, (i + 1) * B), with the H samples before
/// it (zeros before the start of the stream). After matched filtering the stream is cut into sub-blocks of
/// kSubblockSymbols at two samples per symbol; a block yields those that its samples complete.
constexpr std::uint32_t kSubblockSymbols = 512;
constexpr std::uint32_t kMaxBlockSamples = 16384;
constexpr std::uint32_t kChunkSamples = 2048;  // raw samples per spectrum measurement
constexpr std::uint32_t kMaxChunks = kMaxBlockSamples / kChunkSamples;
constexpr std::uint32_t kMaxSubblocks = kMaxBlockSamples / (2 * kSubblockSymbols) + 1;

/// Pairs of samples in front of a block's first sub-block, and readable (meaningless) ones behind the last.
constexpr std::uint32_t kPairsBefore = 8;
constexpr std::uint32_t kPairsBehind = 24;
constexpr std::uint32_t kMaxPairs = kPairsBefore + kMaxSubblocks * kSubblockSymbols + kPairsBehind;

/// Strobes of a sub-block lie this many samples (two per symbol) ahead of its samples, so that the
/// interpolator's taps never reach beyond the block.
constexpr double kStrobeLead = 8.0;

/// Most symbols one block can give, rounded up to the interpolator's group for every sub-block.
constexpr std::uint32_t kMaxBlockSymbols = kMaxSubblocks * (kSubblockSymbols + 16);

/// From sample `place` of a window on, signal and noise are `ratio` times as large as before.
struct AgcStep {
    std::int64_t place = 0;
    double ratio = 1.0;
};

constexpr std::uint32_t kMaxLevelSteps = 4;

/// The steps of one window, in order.
struct LevelStepList {
    std::uint32_t count = 0;
    std::array<AgcStep, kMaxLevelSteps> step{};

    std::span<const AgcStep> all() const { return std::span(step).first(count); }
    void add(const AgcStep& one) {
        if (count < kMaxLevelSteps) step[count++] = one;
    }
};

constexpr std::uint32_t kMaxTones = 8;

/// Lines of the spectrum that no modulation makes, in cycles per sample, the strongest first.
struct ToneList {
    std::uint32_t count = 0;
    std::array<double, kMaxTones> frequency{};

    std::span<const double> all() const { return std::span(frequency).first(count); }
    void add(double one) {
        if (count < kMaxTones) frequency[count++] = one;
    }
};

/// Lag correlations and moments of chunks of one block: of those whose number in the stream `every` divides.
struct BlockSpectrum {
    std::int64_t block = 0;
    std::uint32_t every = 1;
    std::array<dsp::LagCorrelation, kMaxChunks> chunk{};  // without the offset of I and Q
    std::array<dsp::IqMoments, kMaxChunks> moments{};
    LevelStepList steps{};
};

/// How one block is corrected, turned and scaled; frequencies in cycles per sample. The history in front of
/// the block belongs to the block before and is turned by its oscillator. Gains are those behind the window's
/// last step of the level.
struct BlockOscillator {
    std::int64_t block = 0;
    double phase_cycles = 0.0;  // at the block's first sample
    double frequency = 0.0;
    double gain = 1.0;
    double previous_frequency = 0.0;
    double previous_gain = 1.0;
    dsp::IqCorrection iq{};  // of the raw samples
    bool restart = false;    // nothing before this block belongs to the same stretch of signal
    LevelStepList steps{};   // of the window
    ToneList tones{};        // that are to be taken out first
    // Power of a sample of the signal, before the gain, where it was strongest lately; 0: nobody knows.
    double loudest = 0;

    /// The gain at a sample of the window, whose block begins behind `history` samples.
    double gain_at(std::int64_t place, std::int64_t history) const {
        double now = place < history ? previous_gain : gain;
        for (const AgcStep& step : steps.all()) now *= step.place > place ? step.ratio : 1.0;
        return now;
    }
};

/// Timing measured over one sub-block: `phasor` is Es * exp(2 pi j tau), tau the place of the
/// sampling_instants after the even samples in symbols; `power` the mean power of the samples.
struct SubblockTiming {
    Iq phasor{};
    float power = 0.0F;
};

/// The scalars of one matched-filtered block.
struct FilteredInfo {
    std::int64_t block = 0;
    std::int64_t first_subblock = 0;
    std::uint32_t subblocks = 0;
    bool restart = false;
    double frequency = 0.0;  // taken out, cycles per symbol
    double turned_from =
        0;  // with it, in symbols behind the first sub-block's begin; the block before's until there
    std::array<SubblockTiming, kMaxSubblocks> timing{};
};

constexpr std::uint32_t kMaxErasedRuns = 64;

/// Places of a FilteredBlock, in samples (even[0] is at 0), from which too much was taken away for the
/// symbols there to be worth anything: of more than there is room for the last ones are left out.
struct ErasedRuns {
    struct Run {
        float begin, end;
    };
    std::uint32_t count = 0;
    std::array<Run, kMaxErasedRuns> run{};

    std::span<const Run> all() const { return std::span(run).first(count); }
    void add(const Run& one) {
        if (count < kMaxErasedRuns) run[count++] = one;
    }
};

/// One block at two samples per symbol, split into even and odd samples; sub-block s starts at pair
/// kPairsBefore + s * kSubblockSymbols.
struct FilteredBlock {
    FilteredInfo info;
    ErasedRuns erased;
    alignas(64) std::array<Iq, kMaxPairs> even{};
    alignas(64) std::array<Iq, kMaxPairs> odd{};
};

/// `count` sampling_instants at sample position first + i * step of a FilteredBlock (even[0] is position 0).
struct StrobeRun {
    double first = 0.0;
    double step = 2.0;
    std::uint32_t count = 0;
    bool leaps = false;  // the clock does not go on from the run before
};

/// Where the symbols of one block stand.
struct StrobePlan {
    std::int64_t block = 0;
    std::int64_t first_subblock = 0;
    std::uint32_t runs = 0;
    bool restart = false;  // the symbols before this block do not adjoin
    double frequency = 0.0;
    double turned_from = 0;
    std::array<StrobeRun, kMaxSubblocks> run{};
};

/// Symbols of one block, one sample each, mean energy near 1, those that are known to be lost exactly 0;
/// padded so that whole groups may be written.
struct SymbolBlock {
    std::int64_t block = 0;
    std::uint32_t count = 0;
    bool restart = false;
    double frequency = 0.0;         // taken out by the front, cycles per symbol,
    std::uint32_t turned_from = 0;  // from this symbol on
    std::uint32_t marks = 0;
    std::array<StrobeMark, kMaxSubblocks> mark{};
    alignas(64) std::array<Iq, kMaxBlockSymbols> symbols{};
};

/// Orders for the blocks that a sequential object had its caller keep: throw away the `drop` oldest, then
/// pass on the next `release`, asking the object for one parameter set each.
struct KeptBlocks {
    std::uint32_t drop = 0;
    std::uint32_t release = 0;
};

/// Sizes that follow from a configuration; throws Dvbs2Error for one that cannot work.
class FrontGeometry {
  public:
    explicit FrontGeometry(const FrontConfig& config);

    double samples_per_symbol() const { return samples_per_symbol_; }
    double rolloff() const { return rolloff_; }
    bool live() const { return live_; }
    std::uint32_t block_samples() const { return block_samples_; }
    std::uint32_t history_samples() const { return history_samples_; }
    std::uint32_t chunks() const { return block_samples_ / kChunkSamples; }
    std::uint32_t filter_taps() const { return filter_taps_; }

    /// Lags of the spectrum measurement: between 1/4 and 1/2 symbol apart, or, where they would be exactly
    /// 1/2, without those at whole symbols, where a raised-cosine pulse is zero.
    const dsp::LagSet& lags() const { return lags_; }

    /// Sub-blocks that the samples before block `block` complete.
    std::int64_t subblocks_before(std::int64_t block) const;

    /// Sub-blocks that block `block` completes, without those that lie wholly behind its `valid` samples.
    std::uint32_t subblocks_of(std::int64_t block, std::uint32_t valid) const;

  private:
    double samples_per_symbol_;
    double rolloff_;
    bool live_;
    std::uint32_t block_samples_;
    std::uint32_t history_samples_ = 0;
    std::uint32_t filter_taps_ = 0;
    dsp::LagSet lags_;
};

/// Samples of a block of a live input, which is short where samples come slowly: 20 ms of them, if that can
/// be. Throws as FrontGeometry.
std::uint32_t live_block_samples(const FrontConfig& config);

}  // namespace tidemill::dvbs2
