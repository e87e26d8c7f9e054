#include "tidemill/dvbs2/receiver/frame_decoder.hpp"

#include <fmt/format.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/fec/bb_scrambler.hpp"
#include "tidemill/fec/llr_information.hpp"

namespace tidemill::dvbs2 {

FrameDecoder::FrameDecoder() : codeword_(kMaxCodewordBytes) {
    for (const fec::Dvbs2Code& code : fec::dvbs2_codes()) bch_.emplace_back(code);
}

DecodedFrame FrameDecoder::decode(const Pls& pls, std::span<const fec::Llr> llrs) {
    const fec::Dvbs2Code* const code = code_of(pls);
    if (!code || llrs.size() != static_cast<std::size_t>(code->n)) {
        throw Dvbs2Error(fmt::format("a frame of PLS code {} has {} soft bits, not {}", pls.code(),
                                     code ? code->n : 0, llrs.size()));
    }
    const auto index = static_cast<std::size_t>(code - fec::dvbs2_codes().data());
    if (!ldpc_[index]) ldpc_[index].emplace(*code, fec::LdpcSettings{});
    const auto codeword = std::span(codeword_).first(static_cast<std::size_t>(code->k_ldpc) / 8);
    const fec::LdpcResult ldpc = ldpc_[index]->decode(llrs, codeword);
    // By themselves zeros are a codeword like others; of a signal that is none they are not.
    const bool is_silence = is_all_zeros(codeword) && fec::tell_too_little(*code, llrs);
    const fec::BchResult bch = is_silence ? fec::BchResult{false, 0} : bch_[index].decode(codeword);
    const auto bbframe = codeword.first(static_cast<std::size_t>(code->k_bch) / 8);
    fec::bb_scramble(bbframe);
    return {bch.ok, ldpc.iterations, bbframe};
}

}  // namespace tidemill::dvbs2
