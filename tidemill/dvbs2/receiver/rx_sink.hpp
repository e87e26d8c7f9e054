#pragma once

#include <cstdint>
#include <functional>

#include "tidemill/dvbs2/carrier/equaliser.hpp"
#include "tidemill/dvbs2/carrier/noise.hpp"
#include "tidemill/dvbs2/receiver/largest_drift.hpp"
#include "tidemill/dvbs2/receiver/missing_samples.hpp"
#include "tidemill/dvbs2/receiver/published.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/dvbs2/streams/stream_sorter.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

/// Joins the BBFRAMEs' data to transport stream packets, gives them out and keeps the accounts.
class RxSink final : public Module {
    const bool may_wait_;

  public:
    /// `seconds_at`: when a place, in symbols of the nominal rate since the start, was received; empty: by
    /// that rate.
    RxSink(RxOutputs outputs, const SampleRates& rates, std::function<double(double)> seconds_at = {});

    In<std::uint8_t> codeword = in<std::uint8_t>("codeword", kMaxCodewordBytes);
    Label<const FrameInfo> info = label<const FrameInfo>("info");
    In<std::uint8_t> gap = in<std::uint8_t>("gap");
    In<EqualiserTaps> taps = in<EqualiserTaps>("taps");
    In<SignalQuality> quality = in<SignalQuality>("quality");
    In<fec::LdpcResult> ldpc = in<fec::LdpcResult>("ldpc");
    In<fec::BchResult> bch = in<fec::BchResult>("bch");
    Task write = task("write", &RxSink::write_frame, TaskOptions{.may_wait = may_wait_, .at_end = true});

    const FrameTotals& totals() const { return totals_; }
    /// The same while the receiver runs, for any thread.
    FrameTotals totals_so_far() const { return published_.get(); }
    /// The input streams and what became of their frames.
    const StreamSorter& streams() const { return streams_; }

    void keep(Archive& archive) override;

  private:
    void write_frame(Frame f);
    void finish();
    void account(Frame f, const fec::Dvbs2Code& code);
    void account_bad(Frame f);
    void count_weak();

    std::function<void(const ReceivedFrame&)> frames_;
    std::function<void(Archive&)> keep_outputs_;
    std::function<double(double)> seconds_at_;
    StreamOutputs watched(StreamOutputs outputs);

    MissingAccount missing_;
    StreamSorter streams_;
    LargestDrift drift_;
    FrameTotals totals_;
    std::uint32_t suspected_weak_ = 0;  // 1: the last frame, until the next shows that it was whole
    float suspected_esn0_db_ = 0;
    Published<FrameTotals> published_;
};

}  // namespace tidemill::dvbs2
