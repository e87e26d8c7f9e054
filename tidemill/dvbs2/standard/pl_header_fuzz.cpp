#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tidemill/dvbs2/standard/pl_header.hpp"

/// Any 90 symbols match some code with a quality from 0 to 1, and every code that is defined has a length.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::dvbs2;
    std::array<Iq, kHeaderSymbols> symbols{};
    const auto part = [&](std::size_t i) { return i < size ? static_cast<float>(data[i]) - 127.5F : 0.0F; };
    for (std::size_t i = 0; i < symbols.size(); ++i) symbols[i] = {part(2 * i), part(2 * i + 1)};
    const HeaderMatch match =
        match_header(symbols, size > 0 ? static_cast<float>(data[0]) / 256.0F - 0.5F : 0.0F);
    if (match.code < 0 || match.code > 127 || !(match.quality >= 0 && match.quality <= 1.001F)) std::abort();
    const Pls pls = Pls::from_code(match.code);
    if (pls.code() != match.code) std::abort();
    if (pls.is_defined() && layout_of(pls).symbols > kMaxFrameSymbols) std::abort();
    return 0;
}
