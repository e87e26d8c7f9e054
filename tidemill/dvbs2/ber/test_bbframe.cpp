#include "tidemill/dvbs2/ber/test_bbframe.hpp"

#include <bit>
#include <cstddef>
#include <random>

#include "tidemill/dvbs2/standard/bb_header.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr std::size_t kNumberBytes = 8;

BbHeader header_for(std::size_t bbframe_bytes) {
    BbHeader header;
    header.stream_type = StreamType::generic_continuous;
    header.packet_bits = 0;
    header.sync = 0;
    header.data_bits = static_cast<std::uint16_t>(8 * (bbframe_bytes - kBbHeaderBytes));
    return header;
}

}  // namespace

void make_test_bbframe(std::uint64_t seed, std::uint64_t number, std::span<std::uint8_t> bbframe) {
    std::seed_seq seeds{seed, seed >> 32, number, number >> 32};
    std::mt19937_64 random(seeds);
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < bbframe.size(); ++i, word >>= 8) {
        if (i % 8 == 0) word = random();
        bbframe[i] = static_cast<std::uint8_t>(word);
    }
    write_bb_header(header_for(bbframe.size()), bbframe.first<kBbHeaderBytes>());
    for (std::size_t i = 0; i < kNumberBytes; ++i) {
        bbframe[kBbHeaderBytes + i] = static_cast<std::uint8_t>(number >> 8 * i);
    }
}

std::uint64_t number_of_test_bbframe(std::span<const std::uint8_t> bbframe) {
    std::uint64_t number = 0;
    for (std::size_t i = kNumberBytes; i-- > 0;) number = number << 8 | bbframe[kBbHeaderBytes + i];
    return number;
}

std::uint64_t differing_bits(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        count += static_cast<std::uint64_t>(std::popcount(static_cast<std::uint8_t>(a[i] ^ b[i])));
    }
    return count;
}

}  // namespace tidemill::dvbs2
