#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/fft.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"

namespace tidemill::dvbs2 {

/// Samples of a look, one of the chunks of spectrum measurement.
constexpr std::uint32_t kToneBins = kChunkSamples;

/// Finds tones in a stream of blocks by a look at the spectrum now and then, and follows them from block to
/// block while there are any. What it finds stands out from both sides of it as no modulated signal does,
/// whose lines, of pilots and of dummy frames, lie closer together than its bins.
class ToneWatch {
  public:
    explicit ToneWatch(const FrontGeometry& geometry);

    /// Whether the block is to be looked at: each one while there is no signal, or a tone, or one whose power
    /// is not as before; else a few.
    bool wants(const BlockSpectrum& spectrum, bool following);

    /// Takes a look at kToneBins samples of a block, cleared of pulses, of which so much is known to be the
    /// receiver's own offset of I and Q.
    void look(std::span<const Iq> samples, Iq offset = {});

    /// Those of now, by the block looked at last.
    const ToneList& tones() const { return tones_; }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("mean", mean_)("looks", looks_)("tones", tones_)("usual_power", usual_power_);
        archive("level", level_)("loudest", loudest_);
    }

  private:
    struct Line {
        double bin;
        float ratio;  // over what is beside it
    };

    void remember();
    void forget_offset();
    void find(std::span<const float> power, double threshold);
    void find_in_group(std::span<const float> power, double threshold, std::size_t begin);
    float beside(std::span<const float> power, std::size_t bin);
    float median_of(std::span<const float> power, std::size_t first);
    bool is_known(double bin, std::span<const double> frequencies) const;
    bool may_be_offset(std::span<const float> power, double bin, float here, bool is_clear) const;

    std::int64_t seldom_;  // blocks from one look to the next where nothing is known
    dsp::Fft fft_;
    std::vector<float> window_;
    dsp::AlignedVector<Iq> spectrum_;
    std::vector<float> latest_;  // power of each bin over that of all
    std::vector<float> mean_;    // the same over the latest looks
    std::vector<float> sorted_{};
    std::vector<Line> lines_{};
    std::uint32_t looks_ = 0;
    double usual_power_ = 0;
    ToneList tones_{};
    float level_ = 0;    // of the latest look's power
    float loudest_ = 0;  // of all looks
};

}  // namespace tidemill::dvbs2
