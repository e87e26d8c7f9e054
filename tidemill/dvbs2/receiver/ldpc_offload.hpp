#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "tidemill/fec/ldpc_decoder.hpp"
#include "tidemill/scheduling/static/batch_line.hpp"

namespace tidemill::dvbs2 {

/// A frame that waits for its decoder.
struct LdpcFrame {
    const fec::Dvbs2Code* code;
    std::span<const fec::Llr> llrs;       ///< n
    std::span<std::uint8_t> information;  ///< k_ldpc packed bits
    fec::LdpcResult* result;
};

/// Decodes batches of frames of any codes elsewhere than on the cores of the receiver. Several batches may be
/// under way, each in a place of its own. Functions throw an Error where that fails, and nothing is of use
/// then.
class LdpcBatches {
  public:
    virtual ~LdpcBatches() = default;

    /// Sends off at most LdpcOffload::most_frames frames, in a place where nothing is under way. They must
    /// stay until their end.
    virtual void begin(std::size_t place, std::span<const LdpcFrame> frames) = 0;
    /// Whether end() would not wait.
    virtual bool is_done(std::size_t place) = 0;
    /// Waits, and gives the frames their bits and results. Those that have not converged at the end of the
    /// fast iterations are the caller's to decode.
    virtual void end(std::size_t place) = 0;
    /// Why fewer frames than most_frames go there at a time, in a sentence; empty: they are not fewer.
    virtual const std::string& shortage() const = 0;
};

/// A place other than the host in which the LDPC frames of a receiver are decoded.
struct LdpcOffload {
    /// Makes what one replica of the decoder's task uses.
    std::function<std::unique_ptr<LdpcBatches>(const fec::LdpcSettings&)> batches;
    std::uint32_t most_frames = 128;  ///< of a batch
    bool falls_back = false;          ///< goes on with the host where that fails
    std::uint32_t in_flight = kBatchesUnderWay;
};

}  // namespace tidemill::dvbs2
