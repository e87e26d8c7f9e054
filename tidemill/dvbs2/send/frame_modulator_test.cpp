#include "tidemill/dvbs2/send/frame_modulator.hpp"

#include <algorithm>
#include <complex>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/standard/constellation.hpp"
#include "tidemill/dvbs2/standard/pl_header.hpp"
#include "tidemill/fec/bit_packing.hpp"

namespace tidemill::dvbs2 {
namespace {

using dsp::Iq;

constexpr int kGoldCode = 7;

std::vector<Pls> all_settings() {
    std::vector<Pls> all;
    for (int code = 4; code < 4 * 29; ++code) {
        if (Pls::from_code(code).is_defined()) {
            all.push_back(Pls::from_code(code));
        }
    }
    return all;
}

std::vector<std::uint8_t> some_bbframe(std::size_t bytes) {
    std::vector<std::uint8_t> bbframe(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        bbframe[i] = static_cast<std::uint8_t>(i * i + 3 * i);
    }
    return bbframe;
}

std::vector<Iq> descrambled_payload(std::span<const Iq> plframe) {
    const PlScrambler scrambler(kGoldCode);
    std::vector<Iq> payload(plframe.begin() + kHeaderSymbols, plframe.end());
    for (std::size_t i = 0; i < payload.size(); ++i) {
        payload[i] *= scrambler.descrambling()[i];
    }
    return payload;
}

std::size_t nearest_label(Iq symbol, std::span<const Iq> points) {
    const auto nearer = [symbol](Iq a, Iq b) { return std::norm(a - symbol) < std::norm(b - symbol); };
    return static_cast<std::size_t>(std::ranges::min_element(points, nearer) - points.begin());
}

// The coded bits of a payload without pilots, by writing the labels' bits into columns (EN 302 307-1, 5.3.3).
std::vector<std::uint8_t> coded_bits(std::span<const Iq> data, const Modcod& modcod) {
    const auto width = static_cast<std::size_t>(bits_per_symbol(modcod.modulation));
    const bool backwards = modcod.number == 12;  // 8PSK 3/5
    std::vector<std::vector<std::uint8_t>> columns(width);
    for (const auto symbol : data) {
        const auto label = nearest_label(symbol, constellation_of(modcod));
        for (std::size_t b = 0; b < width; ++b) {
            columns[backwards ? width - 1 - b : b].push_back(label >> (width - 1 - b) & 1U);
        }
    }
    std::vector<std::uint8_t> bits;
    if (modcod.modulation != Modulation::qpsk) {
        for (const auto& column : columns) {
            bits.insert(bits.end(), column.begin(), column.end());
        }
        return bits;
    }
    for (std::size_t i = 0; i < data.size(); ++i) {
        bits.push_back(columns[0][i]);
        bits.push_back(columns[1][i]);
    }
    return bits;
}

}  // namespace

TEST_CASE("frame modulator: every setting gives a frame with its own header and length") {
    for (const auto& pls : all_settings()) {
        CAPTURE(pls.code());
        const FrameModulator modulator(pls, kGoldCode);
        CHECK(modulator.plframe_symbols() == static_cast<std::size_t>(layout_of(pls).symbols));
        std::vector<Iq> plframe(modulator.plframe_symbols());
        modulator.modulate(some_bbframe(modulator.bbframe_bytes()), plframe);
        CHECK(std::ranges::equal(std::span(plframe).first(kHeaderSymbols), header_symbols(pls.code())));
    }
}

TEST_CASE(
    "frame modulator: the points of every MODCOD carry the coded bits, read back through the interleaver") {
    for (const auto& pls : all_settings()) {
        if (pls.pilots) {
            continue;
        }
        CAPTURE(pls.code());
        const FrameModulator modulator(pls, kGoldCode);
        const auto bbframe = some_bbframe(modulator.bbframe_bytes());
        std::vector<Iq> plframe(modulator.plframe_symbols());
        modulator.modulate(bbframe, plframe);
        const auto fecframe = modulator.encode(bbframe);
        std::vector<std::uint8_t> sent(8 * fecframe.size());
        fec::unpack_bits(fecframe, sent);
        CHECK(coded_bits(descrambled_payload(plframe), *find_modcod(pls.modcod)) == sent);
    }
}

TEST_CASE("frame modulator: symbols are points of the constellation that were turned, to the bit") {
    const PlScrambler scrambler(kGoldCode);
    for (const auto& pls : all_settings()) {
        if (pls.pilots) continue;
        CAPTURE(pls.code());
        const FrameModulator modulator(pls, kGoldCode);
        const auto bbframe = some_bbframe(modulator.bbframe_bytes());
        std::vector<Iq> plframe(modulator.plframe_symbols());
        modulator.modulate(bbframe, plframe);
        std::vector<Iq> want = modulator.data_symbols(bbframe);
        for (std::size_t i = 0; i < want.size(); ++i) want[i] = turned(want[i], scrambler.rotations()[i]);
        CHECK(std::ranges::equal(std::span(plframe).subspan(kHeaderSymbols), want));
    }
}

TEST_CASE("frame modulator: pilots stand behind every 16 slots and leave the data as they are without them") {
    for (const auto& pls : all_settings()) {
        if (!pls.pilots) {
            continue;
        }
        CAPTURE(pls.code());
        const FrameModulator with(pls, kGoldCode);
        const FrameModulator without({pls.modcod, pls.size, false}, kGoldCode);
        const auto bbframe = some_bbframe(with.bbframe_bytes());
        std::vector<Iq> plframe(with.plframe_symbols());
        std::vector<Iq> plain(without.plframe_symbols());
        with.modulate(bbframe, plframe);
        without.modulate(bbframe, plain);
        auto payload = descrambled_payload(plframe);
        for (int block = layout_of(pls).pilot_blocks - 1; block >= 0; --block) {
            const auto begin = payload.begin() + FrameLayout::pilot_start(block) - kHeaderSymbols;
            CHECK(std::abs(*begin - Iq{0.70710678F, 0.70710678F}) < 1e-6);
            CHECK(std::abs(*(begin + kPilotBlockSymbols - 1) - Iq{0.70710678F, 0.70710678F}) < 1e-6);
            payload.erase(begin, begin + kPilotBlockSymbols);
        }
        const auto data = descrambled_payload(plain);
        CHECK(std::ranges::equal(payload, data, [](Iq a, Iq b) { return std::abs(a - b) < 1e-6; }));
    }
}

TEST_CASE("frame modulator: a dummy frame is a header and 36 slots of one point") {
    const PlScrambler scrambler(kGoldCode);
    const auto plframe = dummy_plframe(scrambler);
    CHECK(plframe.size() == 3330);
    CHECK(std::ranges::equal(std::span(plframe).first(kHeaderSymbols), header_symbols(0)));
    for (const auto symbol : descrambled_payload(plframe)) {
        CHECK(std::abs(symbol - Iq{0.70710678F, 0.70710678F}) < 1e-6);
    }
}

}  // namespace tidemill::dvbs2
