#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/band_spectra.hpp"
#include "tidemill/dsp/offset_remover.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dvbs2/tuner/carrier_tuner.hpp"
#include "tidemill/dvbs2/tuner/tuning.hpp"
#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2 {

/// The samples of one carrier of a source, through a CarrierTuner, as a receiver takes them.
class TunedSource final : public io::SampleSource {
  public:
    /// Throws as check_tuning(), and where the source does not know its rate.
    TunedSource(std::unique_ptr<io::SampleSource> source, const Tuning& tuning);

    dsp::SampleFormat format() const override { return dsp::SampleFormat::cf32; }
    std::optional<double> sample_rate_hz() const override { return rate_hz_; }
    std::size_t read(std::span<std::byte> to) override;

    /// Those of the source, and the offset last.
    std::vector<io::SourceControl> controls() const override;
    void control(std::size_t index, double value) override;

    const io::SampleSource& source() const { return *source_; }
    const Tuning& tuning() const { return tuning_; }
    /// How far the carrier was followed from the tuning's offset, without what was known; from any thread.
    io::BandMove moved() const override { return {.hz = tuner_.followed_hz()}; }
    /// Samples of the source, read so far.
    std::uint64_t samples() const { return samples_; }
    /// Samples among them that were not usable.
    const dsp::SampleDefects& defects() const { return defects_; }

  private:
    bool take_block();
    std::size_t read_block();
    void tune(std::span<dsp::Iq> samples);

    std::unique_ptr<io::SampleSource> source_;
    Tuning tuning_;
    double rate_hz_;
    dsp::OffsetRemover offset_{};  // where there are no spectra, which see to that
    dsp::BandSpectra band_;
    CarrierTuner tuner_;
    dsp::AlignedVector<dsp::Iq> block_;
    std::vector<std::byte> bytes_;
    dsp::AlignedVector<dsp::Iq> spectra_{};
    std::vector<dsp::Iq> tuned_{};
    std::size_t given_ = 0;  // of these
    std::uint64_t samples_ = 0;
    dsp::SampleDefects defects_{};
    bool ended_ = false;
};

}  // namespace tidemill::dvbs2
