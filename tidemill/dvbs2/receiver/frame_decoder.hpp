#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/fec/bch.hpp"
#include "tidemill/fec/ldpc_decoder.hpp"

namespace tidemill::dvbs2 {

/// What became of a FECFRAME.
struct DecodedFrame {
    bool good = false;                      ///< false: more errors than the outer code corrects, or silence
    int ldpc_iterations = 0;                ///< sweeps over all checks, the last one counted whole
    std::span<const std::uint8_t> bbframe;  ///< packed, descrambled; until the next one is decoded
};

/// Decodes FECFRAMEs outside of a receiver's graph, to the very BBFRAMEs of the tasks in it: inner code,
/// outer code, descrambling. One thread at a time.
class FrameDecoder {
  public:
    FrameDecoder();

    /// `llrs` has the n values of the frame's code. Throws Dvbs2Error for a frame that carries none, and for
    /// another number.
    DecodedFrame decode(const Pls& pls, std::span<const fec::Llr> llrs);

  private:
    std::array<std::optional<fec::LdpcDecoder>, 21> ldpc_;  // made when first needed
    std::vector<fec::BchDecoder> bch_;                      // one per code
    std::vector<std::uint8_t> codeword_;
};

}  // namespace tidemill::dvbs2
