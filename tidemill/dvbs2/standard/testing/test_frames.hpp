#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "tidemill/dvbs2/standard/constellation.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/dvbs2/standard/pl_header.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"

/// Frames of random coded bits and a symbol-level channel: the signal source of this room's tests.
namespace tidemill::dvbs2::internal {

struct TestFrame {
    Pls pls;
    std::vector<std::uint8_t> bits;  // coded bits in the decoder's order
    std::vector<Iq> symbols;         // the PLFRAME as sent
};

inline std::vector<Iq> map_bits(const Modcod& modcod, const std::vector<std::uint8_t>& bits) {
    const Interleaver interleaver = interleaver_of(modcod);
    const auto width = static_cast<std::size_t>(bits_per_symbol(modcod.modulation));
    const std::size_t rows = bits.size() / width;
    std::vector<Iq> symbols;
    for (std::size_t row = 0; row < rows; ++row) {
        std::size_t label = 0;
        for (std::size_t b = 0; b < width; ++b) {
            const std::size_t place = interleaver.columns == 1
                                          ? row * width + b
                                          : static_cast<std::size_t>(interleaver.read_order[b]) * rows + row;
            label = 2 * label + bits[place];
        }
        symbols.push_back(constellation_of(modcod)[label]);
    }
    return symbols;
}

inline TestFrame make_frame(const Pls& pls, const PlScrambler& scrambler, std::mt19937& random) {
    const Iq pilot = std::polar(1.0F, std::numbers::pi_v<float> / 4);
    TestFrame frame{pls, {}, {}};
    const FrameLayout layout = layout_of(pls);
    std::vector<Iq> data(static_cast<std::size_t>(layout.data_symbols), pilot);
    if (!pls.is_dummy()) {
        frame.bits.resize(static_cast<std::size_t>(frame_bits(pls.size)));
        std::ranges::generate(frame.bits, [&] { return static_cast<std::uint8_t>(random() >> 31U); });
        data = map_bits(*find_modcod(pls.modcod), frame.bits);
    }
    const auto header = header_symbols(pls.code());
    frame.symbols.assign(header.begin(), header.end());
    for (std::size_t i = 0; i < data.size(); ++i) {
        const auto sent = static_cast<int>(i) / kPilotSpacingSymbols;
        if (i > 0 && i % kPilotSpacingSymbols == 0 && sent <= layout.pilot_blocks) {
            frame.symbols.insert(frame.symbols.end(), kPilotBlockSymbols, pilot);
        }
        frame.symbols.push_back(data[i]);
    }
    scrambler.scramble(std::span(frame.symbols).subspan(kHeaderSymbols));
    return frame;
}

inline std::vector<Iq> join(const std::vector<TestFrame>& frames) {
    std::vector<Iq> symbols;
    for (const TestFrame& frame : frames) {
        symbols.insert(symbols.end(), frame.symbols.begin(), frame.symbols.end());
    }
    return symbols;
}

struct TestChannel {
    double esn0_db = 100;
    double frequency = 0;       // cycles per symbol
    double drift = 0;           // cycles per symbol per symbol
    double phase_walk_deg = 0;  // standard deviation over 1000 symbols
    double phase = 0.7;         // radians
};

/// Noise of the energy that the channel adds to symbols of energy 1.
inline std::vector<Iq> noise(std::size_t count, double esn0_db, std::mt19937& random) {
    std::normal_distribution<float> normal(0,
                                           static_cast<float>(std::sqrt(0.5 * std::pow(10, -esn0_db / 10))));
    std::vector<Iq> symbols(count);
    std::ranges::generate(symbols, [&] { return Iq{normal(random), normal(random)}; });
    return symbols;
}

/// The symbols after the channel; `phases`, when given, receives the phase of each in radians.
inline std::vector<Iq> transmit(const std::vector<Iq>& sent, const TestChannel& channel, std::mt19937& random,
                                std::vector<double>* phases = nullptr) {
    std::normal_distribution<double> normal(0, 1);
    const double walk = channel.phase_walk_deg * std::numbers::pi / 180 / std::sqrt(1000.0);
    std::vector<Iq> received = noise(sent.size(), channel.esn0_db, random);
    double wander = channel.phase;
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const auto n = static_cast<double>(i);
        const double phase =
            2 * std::numbers::pi * (channel.frequency + 0.5 * channel.drift * n) * n + wander;
        wander += walk * normal(random);
        received[i] += sent[i] * Iq(std::polar(1.0, phase));
        if (phases != nullptr) {
            phases->push_back(phase);
        }
    }
    return received;
}

}  // namespace tidemill::dvbs2::internal
