#include "tidemill/dvbs2/standard/modcod.hpp"

#include <algorithm>
#include <array>

namespace tidemill::dvbs2 {

namespace {

using enum Modulation;

// EN 302 307-1: numbers from table 12, ring ratios from tables 9 and 10, thresholds from table 13.
constexpr std::array<Modcod, 28> kModcods{{
    {1, qpsk, CodeRate::r1_4, 0, 0, -2.35F, true},
    {2, qpsk, CodeRate::r1_3, 0, 0, -1.24F, true},
    {3, qpsk, CodeRate::r2_5, 0, 0, -0.30F, true},
    {4, qpsk, CodeRate::r1_2, 0, 0, 1.00F, true},
    {5, qpsk, CodeRate::r3_5, 0, 0, 2.23F, true},
    {6, qpsk, CodeRate::r2_3, 0, 0, 3.10F, true},
    {7, qpsk, CodeRate::r3_4, 0, 0, 4.03F, true},
    {8, qpsk, CodeRate::r4_5, 0, 0, 4.68F, true},
    {9, qpsk, CodeRate::r5_6, 0, 0, 5.18F, true},
    {10, qpsk, CodeRate::r8_9, 0, 0, 6.20F, true},
    {11, qpsk, CodeRate::r9_10, 0, 0, 6.42F, false},
    {12, psk8, CodeRate::r3_5, 0, 0, 5.50F, true},
    {13, psk8, CodeRate::r2_3, 0, 0, 6.62F, true},
    {14, psk8, CodeRate::r3_4, 0, 0, 7.91F, true},
    {15, psk8, CodeRate::r5_6, 0, 0, 9.35F, true},
    {16, psk8, CodeRate::r8_9, 0, 0, 10.69F, true},
    {17, psk8, CodeRate::r9_10, 0, 0, 10.98F, false},
    {18, apsk16, CodeRate::r2_3, 3.15F, 0, 8.97F, true},
    {19, apsk16, CodeRate::r3_4, 2.85F, 0, 10.21F, true},
    {20, apsk16, CodeRate::r4_5, 2.75F, 0, 11.03F, true},
    {21, apsk16, CodeRate::r5_6, 2.70F, 0, 11.61F, true},
    {22, apsk16, CodeRate::r8_9, 2.60F, 0, 12.89F, true},
    {23, apsk16, CodeRate::r9_10, 2.57F, 0, 13.13F, false},
    {24, apsk32, CodeRate::r3_4, 2.84F, 5.27F, 12.73F, true},
    {25, apsk32, CodeRate::r4_5, 2.72F, 4.87F, 13.64F, true},
    {26, apsk32, CodeRate::r5_6, 2.64F, 4.64F, 14.28F, true},
    {27, apsk32, CodeRate::r8_9, 2.54F, 4.33F, 15.69F, true},
    {28, apsk32, CodeRate::r9_10, 2.53F, 4.30F, 16.05F, false},
}};

constexpr std::array<int, 5> kColumnsForwards{0, 1, 2, 3, 4};
constexpr std::array<int, 3> kColumnsBackwards{2, 1, 0};

}  // namespace

std::string_view name(Modulation modulation) {
    constexpr std::array<std::string_view, 4> kNames{"QPSK", "8PSK", "16APSK", "32APSK"};
    return kNames[static_cast<std::size_t>(bits_per_symbol(modulation) - 2)];
}

std::span<const Modcod, 28> all_modcods() {
    return kModcods;
}

const Modcod* find_modcod(int number) {
    return number >= 1 && number <= 28 ? &kModcods[static_cast<std::size_t>(number - 1)] : nullptr;
}

const Modcod* find_modcod(Modulation modulation, CodeRate rate) {
    const auto found = std::ranges::find_if(
        kModcods, [&](const Modcod& m) { return m.modulation == modulation && m.rate == rate; });
    return found == kModcods.end() ? nullptr : &*found;
}

Interleaver interleaver_of(const Modcod& modcod) {
    if (modcod.modulation == qpsk) {
        return {1, kColumnsForwards.data()};
    }
    // 8PSK 3/5 alone reads its columns from the last to the first (EN 302 307-1, figure 8).
    const bool backwards = modcod.modulation == psk8 && modcod.rate == CodeRate::r3_5;
    return {bits_per_symbol(modcod.modulation),
            backwards ? kColumnsBackwards.data() : kColumnsForwards.data()};
}

Pls Pls::from_code(int code) {
    return {(code >> 2) & 31, (code & 2) != 0 ? FrameSize::short_ : FrameSize::normal, (code & 1) != 0};
}

int Pls::code() const {
    return modcod << 2 | (size == FrameSize::short_ ? 2 : 0) | (pilots ? 1 : 0);
}

bool Pls::is_defined() const {
    const Modcod* row = find_modcod(modcod);
    return is_dummy() || (row != nullptr && (size == FrameSize::normal || row->has_short));
}

FrameLayout layout_of(const Pls& pls) {
    if (pls.is_dummy()) {
        return {kDummySlots * kSlotSymbols, 0, (kDummySlots + 1) * kSlotSymbols};
    }
    FrameLayout layout;
    layout.data_symbols = frame_bits(pls.size) / bits_per_symbol(find_modcod(pls.modcod)->modulation);
    // A block that would fall onto the next header is not sent (EN 302 307-1, 5.5.3).
    layout.pilot_blocks = pls.pilots ? (layout.data_symbols - 1) / kPilotSpacingSymbols : 0;
    layout.symbols = kHeaderSymbols + layout.data_symbols + layout.pilot_blocks * kPilotBlockSymbols;
    return layout;
}

}  // namespace tidemill::dvbs2
