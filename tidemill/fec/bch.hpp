#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "tidemill/fec/dvbs2_code.hpp"

namespace tidemill::fec {

class BchRemainder;
class GaloisField;

/// The outer code's encoder (EN 302 307-1, 5.3.1); immutable, so threads may share it.
class BchEncoder {
  public:
    explicit BchEncoder(const Dvbs2Code& code);

    /// Packed bbframe of k_bch bits to packed codeword of k_ldpc bits: the bbframe, then its parity.
    void encode(std::span<const std::uint8_t> bbframe, std::span<std::uint8_t> codeword) const;

  private:
    Dvbs2Code code_;
    std::shared_ptr<const BchRemainder> remainder_;
};

/// Result of one BCH codeword.
struct BchResult {
    bool ok;        ///< false: more errors than the code corrects, the word is left as it came
    int corrected;  ///< bit errors corrected, 0 when not ok

    bool operator==(const BchResult&) const = default;
};

/// The outer code's decoder; immutable, so threads may share it.
class BchDecoder {
  public:
    explicit BchDecoder(const Dvbs2Code& code);

    /// Corrects a packed codeword of k_ldpc bits in place; its first k_bch bits are the bbframe.
    BchResult decode(std::span<std::uint8_t> codeword) const;

  private:
    Dvbs2Code code_;
    std::shared_ptr<const BchRemainder> remainder_;
    const GaloisField* field_;
};

}  // namespace tidemill::fec
