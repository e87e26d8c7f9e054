#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "tidemill/fec/dvbs2_code.hpp"

namespace tidemill::fec {

class LdpcLayers;

/// The inner code's encoder (EN 302 307-1, 5.3.2); immutable, so threads may share it.
class LdpcEncoder {
  public:
    explicit LdpcEncoder(const Dvbs2Code& code);

    /// Packed information of k_ldpc bits to packed FECFRAME of n bits: the information, then its parity.
    void encode(std::span<const std::uint8_t> information, std::span<std::uint8_t> fecframe) const;

  private:
    Dvbs2Code code_;
    std::shared_ptr<const LdpcLayers> layers_;
};

}  // namespace tidemill::fec
