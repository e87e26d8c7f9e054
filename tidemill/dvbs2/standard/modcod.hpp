#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tidemill/fec/dvbs2_code.hpp"

namespace tidemill::dvbs2 {

using fec::CodeRate;
using fec::FrameSize;

inline constexpr int kSlotSymbols = 90;  // EN 302 307-1, 5.5.1
inline constexpr int kSofSymbols = 26;   // EN 302 307-1, 5.5.2.1
inline constexpr int kPlsSymbols = 64;   // EN 302 307-1, 5.5.2.4
inline constexpr int kHeaderSymbols = kSofSymbols + kPlsSymbols;
inline constexpr int kPilotBlockSymbols = 36;  // EN 302 307-1, 5.5.3
inline constexpr int kPilotSpacingSymbols = 16 * kSlotSymbols;
inline constexpr int kDummySlots = 36;          // EN 302 307-1, 5.5.1
inline constexpr int kMaxFrameSymbols = 33282;  // QPSK, normal, with pilots
inline constexpr int kMaxDataSymbols = 32400;   // QPSK, normal

/// How the bits of one symbol choose its point; the value is the number of these bits.
enum class Modulation : std::uint8_t { qpsk = 2, psk8 = 3, apsk16 = 4, apsk32 = 5 };

/// Bits that one symbol carries.
constexpr int bits_per_symbol(Modulation modulation) {
    return static_cast<int>(modulation);
}

/// "QPSK", "8PSK", "16APSK" or "32APSK".
std::string_view name(Modulation modulation);

/// One row of the MODCOD table (EN 302 307-1, tables 12 and 13).
struct Modcod {
    int number;  // 1..28, as signalled
    Modulation modulation;
    CodeRate rate;            // by name; the true rate of a short frame differs
    float gamma1, gamma2;     // radius of ring 2, 3 over that of ring 1; 0 where there is no such ring
    float esn0_threshold_db;  // quasi error free, normal frames, ideal demodulation (table 13)
    bool has_short;           // 9/10 has no short frame
};

/// The 28 MODCODs in order of their number.
std::span<const Modcod, 28> all_modcods();

/// The MODCOD of a signalled number; null for 0 (dummy frame) and 29..31 (reserved).
const Modcod* find_modcod(int number);

/// The MODCOD of a modulation and code rate; null where the standard has none.
const Modcod* find_modcod(Modulation modulation, CodeRate rate);

/// Bits of a coded frame: 64800 or 16200.
constexpr int frame_bits(FrameSize size) {
    return size == FrameSize::normal ? 64800 : 16200;
}

/// How coded bits are spread over symbols: written by columns, read by rows (EN 302 307-1, 5.3.3).
struct Interleaver {
    int columns;            // 1: not interleaved
    const int* read_order;  // column of each bit of a symbol, the first transmitted bit first
};
Interleaver interleaver_of(const Modcod& modcod);

/// Meaning of the 7 bits of a PLS code (EN 302 307-1, 5.5.2.2, 5.5.2.3).
struct Pls {
    int modcod = 0;
    FrameSize size = FrameSize::normal;
    bool pilots = false;

    static Pls from_code(int code);
    int code() const;
    bool is_dummy() const { return modcod == 0; }
    /// False for reserved MODCODs and for short frames of rate 9/10, whose length nobody knows.
    bool is_defined() const;
    friend bool operator==(const Pls&, const Pls&) = default;
};

/// Where the parts of one PLFRAME lie.
struct FrameLayout {
    int data_symbols = 0;  // 36 slots of unmodulated carriers in a dummy frame
    int pilot_blocks = 0;
    int symbols = 0;  // header, data and pilots

    /// Place in the frame of pilot block k, k in [0, pilot_blocks).
    static constexpr int pilot_start(int k) {
        return kHeaderSymbols + (k + 1) * kPilotSpacingSymbols + k * kPilotBlockSymbols;
    }
};

/// Layout of the frame that a defined PLS code announces.
FrameLayout layout_of(const Pls& pls);

}  // namespace tidemill::dvbs2
