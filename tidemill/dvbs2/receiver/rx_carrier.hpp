#pragma once

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dvbs2/carrier/carrier.hpp"
#include "tidemill/dvbs2/carrier/equaliser.hpp"
#include "tidemill/dvbs2/carrier/level_path.hpp"
#include "tidemill/dvbs2/carrier/noise.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

/// Takes echoes, carrier, scrambling, header and pilots off each PLFRAME, and measures its noise.
class RxCarrier final : public Module {
  public:
    explicit RxCarrier(const PlScrambler& scrambler);

    In<Iq> frame = in<Iq>("frame", kFrameBufferSymbols);
    Label<const FrameInfo> info = label<const FrameInfo>("info");
    In<EqualiserTaps> taps = in<EqualiserTaps>("taps");
    Out<Iq> data = out<Iq>("data", kMaxDataSymbols);
    Out<SignalQuality> quality = out<SignalQuality>("quality");
    Task remove = task("remove", &RxCarrier::remove_carrier, cloned);

    static constexpr bool kHoldsNothing = true;  // but scratch

  private:
    void remove_carrier(Frame f);

    Equaliser equaliser_;
    Carrier carrier_;
    CarrierTrack track_;
    LevelPath level_;
    dsp::AlignedVector<Iq> known_;
};

}  // namespace tidemill::dvbs2
