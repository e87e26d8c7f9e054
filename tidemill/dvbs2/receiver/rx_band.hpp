#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dvbs2/receiver/raw_windows.hpp"
#include "tidemill/dvbs2/receiver/shared_spectra.hpp"
#include "tidemill/dvbs2/receiver/source_module.hpp"
#include "tidemill/dvbs2/tuner/carrier_tuner.hpp"
#include "tidemill/io/live/sample_source.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

/// Reads the samples of a band for all its tuners, and makes the spectra from which they take theirs.
class RxBand final : public SourceModule {
    const bool live_;

  public:
    /// `live`: samples are waited for. Throws Dvbs2Error where the source does not know its rate.
    explicit RxBand(io::SampleSource& source, bool live = false);

    Out<std::uint32_t> place = out<std::uint32_t>("place");  // in spectra()
    Task read = task("read", &RxBand::read_block, TaskOptions{.may_wait = live_});

    SharedSpectra& spectra() { return spectra_; }

    /// Samples read so far.
    std::uint64_t samples() const { return samples_; }
    /// Samples among them that were not usable; between runs.
    const dsp::SampleDefects& defects() const { return defects_; }

  private:
    Flow read_block(Frame f);
    std::span<Iq> take_block();

    dsp::BandSpectra band_;
    dsp::AlignedVector<Iq> block_;
    std::vector<std::byte> bytes_;
    SharedSpectra spectra_{};
    bool ended_ = false;
    std::uint64_t samples_ = 0;
    dsp::SampleDefects defects_{};
};

/// Brings one carrier of a band to its own rate, as a CarrierTuner, and hands these on as RxSource does raw
/// samples.
class RxTuner final : public Module {
    const RawLayout layout_;
    const io::SourceControl range_;  // of the offset

  public:
    /// `layout` is that of the tuned samples. `spectra` outlive it. Throws as check_tuning().
    RxTuner(double sample_rate_hz, const Tuning& tuning, const RawLayout& layout, SharedSpectra& spectra);

    In<std::uint32_t> place = in<std::uint32_t>("place");
    Out<std::byte> raw = out<std::byte>("raw", layout_.window_bytes());
    Out<RawInfo> info = out<RawInfo>("info");
    Knob<double> offset_hz = knob<double>(range_.name, range_.value, {range_.least, range_.most});
    Task tune = task("tune", &RxTuner::tune_block, may_skip, may_repeat, at_end);

    /// How far the carrier was followed from the tuning's offset; from any thread.
    double followed_hz() const { return tuner_.followed_hz(); }

  private:
    void take(std::uint32_t number);
    Flow tune_block(Frame f);
    Flow cut(Frame f, std::size_t count);
    bool more_follow() const;
    std::size_t waiting() const { return tuned_.size() - given_; }

    SharedSpectra& spectra_;
    CarrierTuner tuner_;
    RawWindows windows_;
    std::vector<Iq> tuned_{};
    std::size_t given_ = 0;   // of these
    bool repeating_ = false;  // of the block that came last there is more
    bool ending_ = false;
};

}  // namespace tidemill::dvbs2
