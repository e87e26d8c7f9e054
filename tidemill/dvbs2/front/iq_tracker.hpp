#pragma once

#include <cstdint>
#include <limits>

#include "tidemill/dsp/iq_balance.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"

namespace tidemill::dvbs2 {

/// Follows what a radio adds to I and Q (DC), and how unlike it makes them: a gain or an angle between the
/// two mirrors the spectrum weakly into itself. Both are corrected once they stand out of what any modulated
/// signal shows by chance, which they then do by 38 dB below the signal at the latest.
class IqTracker {
  public:
    explicit IqTracker(double samples_per_symbol) : samples_per_symbol_(samples_per_symbol) {}

    /// Takes what was measured of the next block.
    void add(const BlockSpectrum& block);

    /// Correction to take out of the samples now.
    const dsp::IqCorrection& correction() const { return correction_; }
    /// The same, over the power of all else in dB; minus infinity where nothing is taken out.
    double offset_db() const { return offset_db_; }
    double image_db() const { return image_db_; }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("sum", sum_)("louder", louder_)("louder_chunks", louder_chunks_);
        archive("correction", correction_)("offset_db", offset_db_)("image_db", image_db_);
    }

  private:
    void take(const dsp::IqMoments& chunk);
    void follow_level(const dsp::IqMoments& chunk, double usual);
    void decide();

    double samples_per_symbol_;
    dsp::IqMoments sum_{};
    dsp::IqMoments louder_{};  // of the latest chunks, where these are far above the usual power
    std::uint32_t louder_chunks_ = 0;
    dsp::IqCorrection correction_{};
    double offset_db_ = kNone;
    double image_db_ = kNone;
    static constexpr double kNone = -std::numeric_limits<double>::infinity();
};

}  // namespace tidemill::dvbs2
