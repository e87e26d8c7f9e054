#include "tidemill/dvbs2/sync/extension_header.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tidemill::dvbs2 {

namespace {

constexpr int kExtension = 128;  // the first bit of the PLS code

// EN 302 307-2, 5.5.2.4: the row of the generator matrix that the first bit selects; each of its bits is sent
// twice.
constexpr std::uint32_t kRow = 0x90AC2DDD;

// With the first bit set the PLS symbols are turned by a quarter as well.
Iq without_extension(Iq symbol, int place) {
    const Iq upright(symbol.imag(), -symbol.real());
    const bool inverted = (kRow >> (31 - place / 2) & 1) != 0;
    return inverted ? -upright : upright;
}

HeaderHit examine(std::span<const Iq, kHeaderSymbols> symbols, bool inverted) {
    std::array<Iq, kHeaderSymbols> plain;
    std::ranges::transform(symbols, plain.begin(), [&](Iq s) { return inverted ? std::conj(s) : s; });
    for (int i = 0; i < kPlsSymbols; ++i) {
        Iq& symbol = plain[static_cast<std::size_t>(kSofSymbols + i)];
        symbol = without_extension(symbol, i);
    }
    HeaderHit hit = examine_header(plain);
    hit.code += kExtension;
    return hit;
}

}  // namespace

// A conjugated spectrum turns the quarter the other way round, which only one of the two undoes.
HeaderHit examine_extension_header(std::span<const Iq, kHeaderSymbols> symbols) {
    const HeaderHit upright = examine(symbols, false);
    HeaderHit mirrored = examine(symbols, true);
    mirrored.inverted = true;
    return upright.quality >= mirrored.quality ? upright : mirrored;
}

}  // namespace tidemill::dvbs2
