#include "tidemill/dvbs2/frame_modulator.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/dvbs2/constellation.hpp"
#include "tidemill/dvbs2/pl_header.hpp"
#include "tidemill/fec/bb_scrambler.hpp"
#include "tidemill/fec/bit_packing.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr dsp::Iq kPilot{0.70710678F, 0.70710678F};  // EN 302 307-1, 5.5.3

const Modcod& checked_modcod(const Pls& pls) {
    if (pls.is_dummy() || !pls.is_defined()) {
        throw std::invalid_argument(
            fmt::format("MODCOD {} with {} frames cannot carry data: choose 1 to 28, and no "
                        "short frames of rate 9/10",
                        pls.modcod, fec::name(pls.size)));
    }
    return *find_modcod(pls.modcod);
}

// Puts a pilot block behind every 16 slots of data, as often as the layout says.
void insert_pilots(std::span<const dsp::Iq> data, int blocks, std::span<dsp::Iq> payload) {
    auto to = payload.begin();
    for (int block = 0; block < blocks; ++block) {
        to = std::ranges::copy(data.first(kPilotSpacingSymbols), to).out;
        to = std::fill_n(to, kPilotBlockSymbols, kPilot);
        data = data.subspan(kPilotSpacingSymbols);
    }
    std::ranges::copy(data, to);
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
    const auto points = constellation_of(*modcod_);
    const auto interleaver = interleaver_of(*modcod_);
    const auto symbol_bits = static_cast<std::size_t>(bits_per_symbol(modcod_->modulation));
    const auto symbols = static_cast<std::size_t>(layout_.data_symbols);
    std::vector<dsp::Iq> data(symbols);
    if (interleaver.columns <= 1) {  // QPSK: four symbols a byte
        for (std::size_t i = 0; i < symbols; ++i) data[i] = points[fecframe[i / 4] >> (6 - 2 * (i % 4)) & 3];
        return data;
    }
    std::vector<std::uint8_t> bits(8 * fecframe.size());
    fec::unpack_bits(fecframe, bits);
    for (std::size_t i = 0; i < symbols; ++i) {
        std::size_t label = 0;
        for (std::size_t b = 0; b < symbol_bits; ++b) {
            const auto column = static_cast<std::size_t>(interleaver.read_order[b]);
            label = label << 1 | bits[column * symbols + i];
        }
        data[i] = points[label];
    }
    return data;
}

void FrameModulator::modulate(std::span<const std::uint8_t> bbframe, std::span<dsp::Iq> plframe) const {
    assert(plframe.size() == plframe_symbols());
    const auto data = data_symbols(bbframe);
    std::ranges::copy(header_symbols(pls_.code()), plframe.begin());
    const auto payload = plframe.subspan(kHeaderSymbols);
    insert_pilots(data, layout_.pilot_blocks, payload);
    scrambler_.scramble(payload);
}

std::vector<dsp::Iq> dummy_plframe(const PlScrambler& scrambler) {
    const Pls dummy;
    std::vector<dsp::Iq> plframe(static_cast<std::size_t>(layout_of(dummy).symbols), kPilot);
    std::ranges::copy(header_symbols(dummy.code()), plframe.begin());
    scrambler.scramble(std::span(plframe).subspan(kHeaderSymbols));
    return plframe;
}

}  // namespace tidemill::dvbs2
