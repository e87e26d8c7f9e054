#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tidemill::fec {

/// The two FECFRAME lengths: 64800 and 16200 bits.
enum class FrameSize : std::uint8_t { normal, short_ };

/// Code rates by their names; the true rate of a short frame differs (K_ldpc / N).
enum class CodeRate : std::uint8_t { r1_4, r1_3, r2_5, r1_2, r3_5, r2_3, r3_4, r4_5, r5_6, r8_9, r9_10 };

/// Columns of one circulant: the LDPC codes repeat with this period (EN 302 307-1, 5.3.2).
inline constexpr int kCirculantSize = 360;

/// Sizes of one of the 21 concatenated BCH and LDPC codes of EN 302 307-1, tables 5a and 5b.
struct Dvbs2Code {
    FrameSize frame_size;
    CodeRate rate;
    int n;                ///< bits of the FECFRAME
    int k_ldpc;           ///< bits into the LDPC encoder, out of the BCH encoder
    int k_bch;            ///< bits of the BBFRAME
    int bch_correctable;  ///< bit errors the BCH code corrects (t)

    constexpr int ldpc_parity() const { return n - k_ldpc; }
    constexpr int bch_parity() const { return k_ldpc - k_bch; }
    /// Step between the parity addresses of neighbouring information bits (q): also the layers of the code.
    constexpr int q() const { return ldpc_parity() / kCirculantSize; }
    constexpr bool operator==(const Dvbs2Code&) const = default;
};

/// All 21 codes: normal frames first, each by rising rate.
std::span<const Dvbs2Code> dvbs2_codes();

/// The code of a frame size and rate; throws FecError for short 9/10, which does not exist.
const Dvbs2Code& dvbs2_code(FrameSize frame_size, CodeRate rate);

/// "normal" or "short".
std::string_view name(FrameSize frame_size);

/// "1/4" to "9/10".
std::string_view name(CodeRate rate);

/// The inverse of `name`; empty when no rate has that name.
std::optional<CodeRate> code_rate_from_name(std::string_view text);

}  // namespace tidemill::fec
