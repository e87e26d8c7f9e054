#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/send/qpsk_mapper.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/fec/bch.hpp"
#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/ldpc_encoder.hpp"

namespace tidemill::dvbs2 {

/// Makes PLFRAMEs of one MODCOD, frame size and pilot setting out of BBFRAMEs (EN 302 307-1, 5.2 to 5.5);
/// immutable.
class FrameModulator {
  public:
    /// Throws Dvbs2Error for dummy, reserved and impossible settings and for impossible gold
    /// codes.
    FrameModulator(const Pls& pls, int gold_code);

    /// Packed bytes of a BBFRAME (K_bch / 8).
    std::size_t bbframe_bytes() const { return static_cast<std::size_t>(code_->k_bch) / 8; }

    /// Symbols of a PLFRAME.
    std::size_t plframe_symbols() const { return static_cast<std::size_t>(layout_.symbols); }

    /// BBFRAME, not yet scrambled, to the coded bits of the FECFRAME, packed.
    std::vector<std::uint8_t> encode(std::span<const std::uint8_t> bbframe) const;

    /// BBFRAME, not yet scrambled, to the data symbols of its PLFRAME, not scrambled either; unit energy.
    std::vector<dsp::Iq> data_symbols(std::span<const std::uint8_t> bbframe) const;

    /// BBFRAME, not yet scrambled, to the symbols of its PLFRAME, unit energy.
    void modulate(std::span<const std::uint8_t> bbframe, std::span<dsp::Iq> plframe) const;

  private:
    /// Point of the constellation for each data symbol.
    std::vector<std::uint8_t> labels_of(std::span<const std::uint8_t> fecframe) const;

    Pls pls_;
    const Modcod* modcod_;
    const fec::Dvbs2Code* code_;
    FrameLayout layout_;
    fec::BchEncoder bch_;
    fec::LdpcEncoder ldpc_;
    std::vector<std::uint8_t> turns_;  // of the data symbols when they are scrambled, in quarters
    std::vector<dsp::Iq> pilots_;      // of all blocks, scrambled
    std::vector<dsp::Iq> points_;      // by label and quarter turns
    std::optional<QpskMapper> qpsk_;
};

/// The symbols of a dummy PLFRAME, scrambled like any other (EN 302 307-1, 5.5.1).
std::vector<dsp::Iq> dummy_plframe(const PlScrambler& scrambler);

}  // namespace tidemill::dvbs2
