#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/search/internal/dvbs_code.hpp"

/// Symbols of DVB-S as EN 300 421 describes them, step by step: for tests.
namespace tidemill::dvbs2::internal {

using DvbsBytes = std::vector<std::uint8_t>;

/// 4.4.1: packets of random content, their sync bytes, each eighth of them inverted, the others' bytes made
/// random by 1 + x^14 + x^15, which begins anew with each inverted one and runs on, unseen, under the rest.
inline DvbsBytes dispersed_packets(std::size_t packets, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    DvbsBytes bytes;
    unsigned state = 0;
    const auto next_byte = [&state] {
        unsigned byte = 0;
        for (int bit = 0; bit < 8; ++bit) {
            const unsigned out = (state >> 13 ^ state >> 14) & 1U;
            state = (state << 1 | out) & 0x7FFFU;
            byte = byte << 1 | out;
        }
        return byte;
    };
    for (std::size_t packet = 0; packet < packets; ++packet) {
        const bool begins = packet % 8 == 0;
        if (begins)
            state = 0b000000010101001;
        else
            next_byte();
        bytes.push_back(begins ? 0xB8 : 0x47);
        for (int n = 1; n < 188; ++n)
            bytes.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(random() & 0xFF) ^ next_byte()));
    }
    return bytes;
}

/// 4.4.2: sixteen bytes behind each packet, of the Reed-Solomon code (204, 188).
inline DvbsBytes with_parity(const DvbsBytes& packets) {
    std::array<unsigned, 512> power{};
    std::array<unsigned, 256> logarithm{};
    for (unsigned n = 0, value = 1; n < 255; ++n) {
        power[n] = power[n + 255] = value;
        logarithm[value] = n;
        value <<= 1;
        if (value > 255) value ^= 0x11D;
    }
    const auto times = [&](unsigned a, unsigned b) {
        return a == 0 || b == 0 ? 0U : power[logarithm[a] + logarithm[b]];
    };
    std::array<unsigned, 17> generator{1};  // of powers 0 to 15, the highest coefficient first
    for (unsigned root = 0; root < 16; ++root)
        for (unsigned k = root + 1; k > 0; --k) generator[k] ^= times(generator[k - 1], power[root]);
    DvbsBytes coded;
    for (std::size_t begin = 0; begin < packets.size(); begin += 188) {
        std::array<unsigned, 16> rest{};
        for (std::size_t n = 0; n < 188; ++n) {
            const unsigned factor = packets[begin + n] ^ rest[0];
            for (std::size_t k = 0; k < 15; ++k) rest[k] = rest[k + 1] ^ times(factor, generator[k + 1]);
            rest[15] = times(factor, generator[16]);
            coded.push_back(packets[begin + n]);
        }
        for (const unsigned byte : rest) coded.push_back(static_cast<std::uint8_t>(byte));
    }
    return coded;
}

/// 4.4.2: byte n of twelve waits for n times 17 rounds. The first eleven packets, with places that nothing
/// has come to yet, are left out.
inline DvbsBytes interleaved(const DvbsBytes& bytes) {
    DvbsBytes out;
    for (std::size_t n = 11 * 204; n < bytes.size(); ++n) out.push_back(bytes[n - n % 12 * 17 * 12]);
    return out;
}

/// 4.4.3 and 4.5: the inner code, punctured, and Gray-mapped QPSK of power 1.
inline std::vector<dsp::Iq> coded_symbols(const DvbsBytes& bytes, const DvbsRate& rate) {
    std::vector<float> sent;
    unsigned bits = 0;
    for (std::size_t n = 0; n < 8 * bytes.size(); ++n) {
        bits = bits >> 1 | (bytes[n / 8] >> (7 - n % 8) & 1U) << 6;
        const auto send = [&](unsigned generator) {
            sent.push_back(std::popcount(bits & generator) % 2 == 0 ? 0.70710678F : -0.70710678F);
        };
        if (rate.x[n % rate.x.size()] == '1') send(kDvbsX);
        if (rate.y[n % rate.y.size()] == '1') send(kDvbsY);
    }
    std::vector<dsp::Iq> symbols;
    for (std::size_t n = 0; n + 1 < sent.size(); n += 2) symbols.emplace_back(sent[n], sent[n + 1]);
    return symbols;
}

/// At least so many symbols of DVB-S.
inline std::vector<dsp::Iq> dvbs_symbols(std::size_t count, const DvbsRate& rate, std::uint64_t seed) {
    const std::size_t bits = 2 * count * rate.information_bits() / rate.sent_bits();
    return coded_symbols(interleaved(with_parity(dispersed_packets(bits / 1632 + 13, seed))), rate);
}

}  // namespace tidemill::dvbs2::internal
