#pragma once

#include <cstdint>

#include "tidemill/dvbs2/ber/ber_counts.hpp"
#include "tidemill/dvbs2/carrier/noise.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/dvbs2/send/frame_modulator.hpp"
#include "tidemill/dvbs2/sync/frame_sync.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

/// Sends frames of known content over white noise to a demodulator that knows frequency, phase, time and
/// noise: what Table 13 of EN 302 307-1 assumes. A frame depends on the seed and its number alone.
class BerIdealLink final : public Module {
  public:
    BerIdealLink(const Pls& pls, double esn0_db, std::uint64_t seed);

    Out<dsp::Iq> data = out<dsp::Iq>("data", kMaxDataSymbols);
    Label<FrameInfo> info = label<FrameInfo>("info");
    Out<SignalQuality> quality = out<SignalQuality>("quality");
    Out<std::uint8_t> sent = out<std::uint8_t>("sent", kMaxCodewordBytes);
    Task send = task("send", &BerIdealLink::send_frame, pure);

  private:
    void send_frame(Frame f) const;

    Pls pls_;
    float noise_variance_;
    std::uint64_t seed_;
    FrameModulator modulator_;
};

/// Compares a decoded BBFRAME with the one that was sent.
class BerCompare final : public Module {
  public:
    BerCompare() : Module("compare") {}

    In<std::uint8_t> sent = in<std::uint8_t>("sent", kMaxCodewordBytes);
    In<std::uint8_t> codeword = in<std::uint8_t>("codeword", kMaxCodewordBytes);
    Label<const FrameInfo> info = label<const FrameInfo>("info");
    In<fec::LdpcResult> ldpc = in<fec::LdpcResult>("ldpc");
    In<fec::BchResult> bch = in<fec::BchResult>("bch");
    Out<BerCounts> counts = out<BerCounts>("counts");
    Task compare = task("compare", &BerCompare::compare_frame, pure);

  private:
    void compare_frame(Frame f) const;
};

}  // namespace tidemill::dvbs2
