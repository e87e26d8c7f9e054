#pragma once

#include "tidemill/dvbs2/carrier/demapper.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"

namespace tidemill::dvbs2 {

/// Symbols to LLRs in the order of the FECFRAME's bits.
class RxDemapper final : public Module {
  public:
    RxDemapper() : Module("demapper") {}

    In<dsp::Iq> data = in<dsp::Iq>("data", kMaxDataSymbols);
    Label<const FrameInfo> info = label<const FrameInfo>("info");
    In<SignalQuality> quality = in<SignalQuality>("quality");
    Out<fec::Llr> llrs = out<fec::Llr>("llrs", kMaxFecframeBits);
    Task demap = task("demap", &RxDemapper::demap_frame, pure);

  private:
    void demap_frame(Frame f) const;
};

}  // namespace tidemill::dvbs2
