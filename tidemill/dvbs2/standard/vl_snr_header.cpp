#include "tidemill/dvbs2/standard/vl_snr_header.hpp"

namespace tidemill::dvbs2 {

const std::array<std::uint64_t, kVlSnrRows> kVlSnrRowBits{
    0xFBF23E837F9BC4, 0x98708E0B39345E, 0xF6A2C9FE1B1737, 0x8418D95A6F997A,
    0x7B7D7B3E9FC9EA, 0x5E78BA03A6D51A, 0x279CC26543ECD0, 0x342B0498BF3D7D,
    0xADD036E9D5312F, 0x1061C6DF826237, 0x72D3E0907384C7, 0x3BD5ACEE25E2C9,
    0x59087D82615ADA, 0xE9AF0172CF9DA7, 0x3F4835A4063F07, 0x23C9AEECF2ED41};

// Header 12 is that of dummy frames.
const std::array<VlSnrHeader, 10> kVlSnrHeaders{{{0, 0x0000, 129},
                                                 {1, 0x5555, 129},
                                                 {2, 0x3333, 129},
                                                 {3, 0x6666, 129},
                                                 {4, 0x0F0F, 129},
                                                 {5, 0x6969, 129},
                                                 {9, 0x3C3C, 131},
                                                 {10, 0x5A5A, 131},
                                                 {11, 0xFF00, 131},
                                                 {12, 0x55AA, 131}}};

std::vector<dsp::Iq> vl_snr_header_symbols(const VlSnrHeader& header) {
    std::vector<bool> bits(kVlSnrEdgeSymbols);
    for (std::size_t row = 0; row < kVlSnrRows; ++row) {
        const bool inverted = (header.signs >> (kVlSnrRows - 1 - row) & 1) != 0;
        for (std::size_t k = kVlSnrRowSymbols; k-- > 0;)
            bits.push_back((kVlSnrRowBits[row] >> k & 1) != inverted);
    }
    bits.resize(kVlSnrHeaderSymbols);
    std::vector<dsp::Iq> symbols;
    for (std::size_t n = 0; n < bits.size(); ++n) {
        constexpr float kHalf = 0.70710678F;  // EN 302 307-1, 5.5.2
        const float value = bits[n] ? -kHalf : kHalf;
        symbols.emplace_back(n % 2 == 0 ? value : -value, value);
    }
    return symbols;
}

}  // namespace tidemill::dvbs2
