#pragma once

#include <array>
#include <optional>

#include "tidemill/dvbs2/sync/frame_sync.hpp"
#include "tidemill/fec/bch.hpp"
#include "tidemill/fec/ldpc_decoder.hpp"
#include "tidemill/graph/module.hpp"

namespace tidemill::dvbs2 {

inline constexpr std::size_t kMaxFecframeBits = 64800;
inline constexpr std::size_t kMaxCodewordBytes = 58320 / 8;  // BCH codeword of the normal 9/10 code

/// The code of a frame; null for a frame that carries none.
const fec::Dvbs2Code* code_of(const Pls& pls);

/// Inner code: LLRs to packed BCH codewords.
class RxLdpc final : public Module {
  public:
    explicit RxLdpc(const fec::LdpcSettings& settings = {}) : Module("ldpc"), settings_(settings) {}

    In<fec::Llr> llrs = in<fec::Llr>("llrs", kMaxFecframeBits);
    In<FrameInfo> info = in<FrameInfo>("info");
    Out<std::uint8_t> codeword = out<std::uint8_t>("codeword", kMaxCodewordBytes);
    Out<fec::LdpcResult> result = out<fec::LdpcResult>("result");
    Task decode = task("decode", &RxLdpc::decode_frame, cloned);

  private:
    void decode_frame(Frame f);

    fec::LdpcSettings settings_;
    std::array<std::optional<fec::LdpcDecoder>, 21> decoders_;  // made when first needed
};

/// Outer code: corrects the packed codeword in place; its first bits are the scrambled BBFRAME.
class RxBch final : public Module {
  public:
    RxBch();

    Forward<std::uint8_t> codeword = forward<std::uint8_t>("codeword", kMaxCodewordBytes);
    In<FrameInfo> info = in<FrameInfo>("info");
    Out<fec::BchResult> result = out<fec::BchResult>("result");
    Task decode = task("decode", &RxBch::decode_frame, pure);

  private:
    void decode_frame(Frame f) const;

    std::vector<fec::BchDecoder> decoders_;  // one per code
};

/// Removes the BBFRAME's scrambling in place.
class RxDescrambler final : public Module {
  public:
    RxDescrambler() : Module("bb_descrambler") {}

    Forward<std::uint8_t> codeword = forward<std::uint8_t>("codeword", kMaxCodewordBytes);
    In<FrameInfo> info = in<FrameInfo>("info");
    Task descramble = task("descramble", &RxDescrambler::descramble_frame, pure);

  private:
    void descramble_frame(Frame f) const;
};

}  // namespace tidemill::dvbs2
