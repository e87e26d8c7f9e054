#pragma once

#include <array>
#include <optional>
#include <vector>

#include "tidemill/dvbs2/carrier/noise.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/fec/sum_product_decoder.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

/// Log-likelihood ratios (natural log) of all bits of a frame's data symbols, from the sums over all points
/// and not rounded; in the order of the FECFRAME, as demap() has them.
void demap_exactly(std::span<const dsp::Iq> data, const Modcod& modcod, const SignalQuality& quality,
                   std::span<float> llrs);

/// Symbols to BCH codewords without any shortcut of the receiver's: exact demapping, then floating-point
/// sum-product of at most 50 iterations. What error rates are judged by.
class BerSumProduct final : public Module {
  public:
    BerSumProduct() : Module("sum_product") {}

    In<dsp::Iq> data = in<dsp::Iq>("data", kMaxDataSymbols);
    Label<const FrameInfo> info = label<const FrameInfo>("info");
    In<SignalQuality> quality = in<SignalQuality>("quality");
    Out<std::uint8_t> codeword = out<std::uint8_t>("codeword", kMaxCodewordBytes);
    Out<fec::LdpcResult> result = out<fec::LdpcResult>("result");
    Task decode = task("decode", &BerSumProduct::decode_frame, cloned);

  private:
    void decode_frame(Frame f);

    std::optional<fec::SumProductDecoder> decoder_;  // made when first needed, as all frames have one code
    std::vector<float> llrs_;
};

}  // namespace tidemill::dvbs2
