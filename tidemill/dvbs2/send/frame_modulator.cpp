#include "tidemill/dvbs2/send/frame_modulator.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/standard/constellation.hpp"
#include "tidemill/dvbs2/standard/pl_header.hpp"
#include "tidemill/fec/bb_scrambler.hpp"
#include "tidemill/fec/bit_packing.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr dsp::Iq kPilot{0.70710678F, 0.70710678F};  // EN 302 307-1, 5.5.3

const Modcod& checked_modcod(const Pls& pls) {
    if (pls.is_dummy() || !pls.is_defined()) {
        throw Dvbs2Error(
            fmt::format("MODCOD {} with {} frames cannot carry data: choose 1 to 28, and no "
                        "short frames of rate 9/10",
                        pls.modcod, fec::name(pls.size)));
    }
    return *find_modcod(pls.modcod);
}

constexpr std::array<dsp::Iq, kPilotBlockSymbols> make_pilot_block() {
    std::array<dsp::Iq, kPilotBlockSymbols> block;
    block.fill(kPilot);
    return block;
}

using FourSymbols = std::array<dsp::Iq, 4>;

std::array<FourSymbols, 256> make_qpsk_bytes() {
    const auto points = constellation_of(*find_modcod(1));  // of every QPSK MODCOD
    std::array<FourSymbols, 256> bytes;
    for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
        for (std::size_t i = 0; i < 4; ++i) bytes[byte][i] = points[byte >> (6 - 2 * i) & 3];
    }
    return bytes;
}

// QPSK is not interleaved: a byte is four symbols.
std::vector<dsp::Iq> map_qpsk(std::span<const std::uint8_t> fecframe) {
    static const auto kBytes = make_qpsk_bytes();
    std::vector<dsp::Iq> data(4 * fecframe.size());
    for (std::size_t i = 0; i < fecframe.size(); ++i) {
        std::ranges::copy(kBytes[fecframe[i]], data.begin() + static_cast<std::ptrdiff_t>(4 * i));
    }
    return data;
}

}  // namespace

FrameModulator::FrameModulator(const Pls& pls, int gold_code)
    : pls_(pls),
      modcod_(&checked_modcod(pls)),
      code_(&fec::dvbs2_code(pls.size, modcod_->rate)),
      layout_(layout_of(pls)),
      bch_(*code_),
      ldpc_(*code_),
      scrambler_(gold_code) {}

std::vector<std::uint8_t> FrameModulator::encode(std::span<const std::uint8_t> bbframe) const {
    assert(bbframe.size() == bbframe_bytes());
    std::vector<std::uint8_t> scrambled(bbframe.begin(), bbframe.end());
    fec::bb_scramble(scrambled);
    std::vector<std::uint8_t> bch_word(static_cast<std::size_t>(code_->k_ldpc) / 8);
    bch_.encode(scrambled, bch_word);
    std::vector<std::uint8_t> fecframe(static_cast<std::size_t>(code_->n) / 8);
    ldpc_.encode(bch_word, fecframe);
    return fecframe;
}

std::vector<dsp::Iq> FrameModulator::map(std::span<const std::uint8_t> fecframe) const {
    const auto interleaver = interleaver_of(*modcod_);
    if (interleaver.columns <= 1) return map_qpsk(fecframe);
    const auto points = constellation_of(*modcod_);
    std::vector<std::uint8_t> bits(8 * fecframe.size());
    fec::unpack_bits(fecframe, bits);
    const auto symbols = static_cast<std::size_t>(layout_.data_symbols);
    std::vector<std::uint8_t> labels(symbols);
    for (int b = 0; b < interleaver.columns; ++b) {
        const std::uint8_t* column = &bits[static_cast<std::size_t>(interleaver.read_order[b]) * symbols];
        for (std::size_t i = 0; i < symbols; ++i) {
            labels[i] = static_cast<std::uint8_t>(labels[i] << 1 | column[i]);
        }
    }
    std::vector<dsp::Iq> data(symbols);
    std::ranges::transform(labels, data.begin(), [&](std::uint8_t label) { return points[label]; });
    return data;
}

void FrameModulator::modulate(std::span<const std::uint8_t> bbframe, std::span<dsp::Iq> plframe) const {
    assert(plframe.size() == plframe_symbols());
    static constexpr auto kPilotBlock = make_pilot_block();
    const auto data = data_symbols(bbframe);
    std::ranges::copy(header_symbols(pls_.code()), plframe.begin());
    std::size_t place = 0;  // behind the header
    const auto send = [&](std::span<const dsp::Iq> symbols) {
        scrambler_.scramble(symbols, place, plframe.subspan(kHeaderSymbols + place, symbols.size()));
        place += symbols.size();
    };
    auto left = std::span(data);
    for (int block = 0; block < layout_.pilot_blocks; ++block) {
        send(left.first(kPilotSpacingSymbols));
        send(kPilotBlock);
        left = left.subspan(kPilotSpacingSymbols);
    }
    send(left);
}

std::vector<dsp::Iq> dummy_plframe(const PlScrambler& scrambler) {
    const Pls dummy;
    std::vector<dsp::Iq> plframe(static_cast<std::size_t>(layout_of(dummy).symbols), kPilot);
    std::ranges::copy(header_symbols(dummy.code()), plframe.begin());
    scrambler.scramble(std::span(plframe).subspan(kHeaderSymbols));
    return plframe;
}

}  // namespace tidemill::dvbs2
