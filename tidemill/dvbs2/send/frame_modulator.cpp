#include "tidemill/dvbs2/send/frame_modulator.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <iterator>
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

using FourLabels = std::array<std::uint8_t, 4>;

constexpr std::array<FourLabels, 256> make_qpsk_labels() {
    std::array<FourLabels, 256> bytes{};
    for (std::size_t byte = 0; byte < bytes.size(); ++byte)
        for (std::size_t i = 0; i < 4; ++i)
            bytes[byte][i] = static_cast<std::uint8_t>(byte >> (6 - 2 * i) & 3);
    return bytes;
}

// QPSK is not interleaved: a byte is four symbols.
void label_qpsk(std::span<const std::uint8_t> fecframe, std::span<std::uint8_t> labels) {
    static constexpr auto kLabels = make_qpsk_labels();
    for (std::size_t i = 0; i < fecframe.size(); ++i)
        std::memcpy(&labels[4 * i], kLabels[fecframe[i]].data(), sizeof(FourLabels));
}

constexpr std::size_t kQuarters = 4;

// Each as one word of memory: assigned, its parts would be copied one by one.
void put_points(std::span<const std::uint8_t> labels, std::span<const std::uint8_t> turns,
                std::span<const dsp::Iq> points, std::span<dsp::Iq> symbols) {
    for (std::size_t i = 0; i < labels.size(); ++i)
        std::memcpy(static_cast<void*>(&symbols[i]), &points[kQuarters * labels[i] + turns[i]],
                    sizeof(dsp::Iq));
}

std::vector<dsp::Iq> make_points(const Modcod& modcod) {
    std::vector<dsp::Iq> points;
    for (const dsp::Iq point : constellation_of(modcod))
        for (unsigned quarters = 0; quarters < kQuarters; ++quarters)
            points.push_back(turned(point, quarters));
    return points;
}

}  // namespace

FrameModulator::FrameModulator(const Pls& pls, int gold_code)
    : pls_(pls),
      modcod_(&checked_modcod(pls)),
      code_(&fec::dvbs2_code(pls.size, modcod_->rate)),
      layout_(layout_of(pls)),
      bch_(*code_),
      ldpc_(*code_),
      points_(make_points(*modcod_)) {
    const PlScrambler scrambler(gold_code);
    std::span<const std::uint8_t> rotations = scrambler.rotations();
    const auto take = [&](std::size_t count) {
        const auto some = rotations.first(count);
        rotations = rotations.subspan(count);
        return some;
    };
    const auto data = [&](std::size_t count) { std::ranges::copy(take(count), std::back_inserter(turns_)); };
    for (int block = 0; block < layout_.pilot_blocks; ++block) {
        data(kPilotSpacingSymbols);
        for (const std::uint8_t quarters : take(kPilotBlockSymbols))
            pilots_.push_back(turned(kPilot, quarters));
    }
    data(static_cast<std::size_t>(layout_.data_symbols) - turns_.size());
    if (modcod_->modulation == Modulation::qpsk) qpsk_.emplace(turns_);
}

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

std::vector<std::uint8_t> FrameModulator::labels_of(std::span<const std::uint8_t> fecframe) const {
    const auto symbols = static_cast<std::size_t>(layout_.data_symbols);
    std::vector<std::uint8_t> labels(symbols);
    const auto interleaver = interleaver_of(*modcod_);
    if (interleaver.columns <= 1) {
        label_qpsk(fecframe, labels);
        return labels;
    }
    std::vector<std::uint8_t> bits(8 * fecframe.size());
    fec::unpack_bits(fecframe, bits);
    for (int b = 0; b < interleaver.columns; ++b) {
        const std::uint8_t* column = &bits[static_cast<std::size_t>(interleaver.read_order[b]) * symbols];
        for (std::size_t i = 0; i < symbols; ++i) {
            labels[i] = static_cast<std::uint8_t>(labels[i] << 1 | column[i]);
        }
    }
    return labels;
}

std::vector<dsp::Iq> FrameModulator::data_symbols(std::span<const std::uint8_t> bbframe) const {
    const std::vector<std::uint8_t> labels = labels_of(encode(bbframe));
    std::vector<dsp::Iq> data(labels.size());
    std::ranges::transform(labels, data.begin(),
                           [&](std::uint8_t label) { return points_[kQuarters * label]; });
    return data;
}

// Mapped and scrambled in one step.
void FrameModulator::modulate(std::span<const std::uint8_t> bbframe, std::span<dsp::Iq> plframe) const {
    assert(plframe.size() == plframe_symbols());
    const std::vector<std::uint8_t> fecframe = encode(bbframe);
    const auto labels = qpsk_ ? std::vector<std::uint8_t>() : labels_of(fecframe);
    std::ranges::copy(header_symbols(pls_.code()), plframe.begin());
    plframe = plframe.subspan(kHeaderSymbols);
    std::size_t sent = 0;
    const auto send = [&](std::size_t count) {
        if (qpsk_) {
            const std::size_t before = sent / QpskMapper::kSymbols;
            qpsk_->map(std::span(fecframe).subspan(before, count / QpskMapper::kSymbols), before,
                       plframe.first(count));
        } else {
            put_points(std::span(labels).subspan(sent, count), std::span(turns_).subspan(sent, count),
                       points_, plframe);
        }
        sent += count;
        plframe = plframe.subspan(count);
    };
    for (std::size_t at = 0; at < pilots_.size(); at += kPilotBlockSymbols) {
        send(kPilotSpacingSymbols);
        dsp::copy_samples(std::span(pilots_).subspan(at, kPilotBlockSymbols), plframe);
        plframe = plframe.subspan(kPilotBlockSymbols);
    }
    send(turns_.size() - sent);
}

std::vector<dsp::Iq> dummy_plframe(const PlScrambler& scrambler) {
    const Pls dummy;
    std::vector<dsp::Iq> plframe(static_cast<std::size_t>(layout_of(dummy).symbols), kPilot);
    std::ranges::copy(header_symbols(dummy.code()), plframe.begin());
    scrambler.scramble(std::span(plframe).subspan(kHeaderSymbols));
    return plframe;
}

}  // namespace tidemill::dvbs2
