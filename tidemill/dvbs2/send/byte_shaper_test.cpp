#include "tidemill/dvbs2/send/byte_shaper.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/send/frame_modulator.hpp"
#include "tidemill/io/live/quantize.hpp"

namespace tidemill::dvbs2 {
namespace {

// Frames of these MODCODs behind each other.
std::vector<dsp::Iq> symbols_of(std::initializer_list<int> modcods) {
    std::vector<dsp::Iq> symbols;
    for (const int modcod : modcods) {
        const FrameModulator modulator({modcod, FrameSize::short_, true}, 0);
        std::vector<std::uint8_t> bbframe(modulator.bbframe_bytes());
        for (std::size_t i = 0; i < bbframe.size(); ++i) bbframe[i] = static_cast<std::uint8_t>(i * i >> 3);
        const std::size_t before = symbols.size();
        symbols.resize(before + modulator.plframe_symbols());
        modulator.modulate(bbframe, std::span(symbols).subspan(before));
    }
    return symbols;
}

struct Bytes {
    std::vector<std::byte> bytes;
    std::uint64_t limited = 0;
};

Bytes shaped(const PulseShaper& shaper, dsp::SampleFormat format, float gain,
             std::span<const dsp::Iq> symbols) {
    const ByteShaper to_bytes(shaper, format, gain);
    Bytes made{std::vector<std::byte>(symbols.size() * to_bytes.bytes_per_symbol())};
    made.limited = to_bytes.shape(std::vector<dsp::Iq>(shaper.history()), symbols, made.bytes);
    return made;
}

Bytes shaped_then_rounded(const PulseShaper& shaper, dsp::SampleFormat format, float gain,
                          std::span<const dsp::Iq> symbols) {
    std::vector<dsp::Iq> samples(symbols.size() * shaper.samples_per_symbol());
    shaper.shape(std::vector<dsp::Iq>(shaper.history()), symbols, samples);
    Bytes made{std::vector<std::byte>(samples.size() * dsp::bytes_per_sample(format))};
    made.limited = io::quantize(samples, gain, format, made.bytes);
    return made;
}

}  // namespace

TEST_CASE("byte shaper: a frame's bytes are those of its samples made at once") {
    for (const int modcod : {10, 22}) {
        const auto symbols = symbols_of({modcod});
        for (const int samples_per_symbol : {1, 2, 3, 16, 300}) {
            CAPTURE(samples_per_symbol);
            const PulseShaper shaper(samples_per_symbol, 0.2);
            const auto some = std::span(symbols).first(samples_per_symbol == 300 ? 700 : symbols.size() - 5);
            const auto same = [&](dsp::SampleFormat format, float gain) {
                const auto got = shaped(shaper, format, gain, some),
                           want = shaped_then_rounded(shaper, format, gain, some);
                CHECK(got.bytes == want.bytes);
                CHECK(got.limited == want.limited);
            };
            same(dsp::SampleFormat::cf32, 0.25F);
            same(dsp::SampleFormat::ci16, 0.9F);
            if (samples_per_symbol != 2) same(dsp::SampleFormat::ci8, 0.9F);
        }
    }
}

TEST_CASE("byte shaper: QPSK in 8 bits is the same but for a step at the border between two") {
    const auto symbols = symbols_of({10, 22});
    const PulseShaper shaper(2, 0.2);
    for (const auto format : {dsp::SampleFormat::ci8, dsp::SampleFormat::cu8}) {
        for (const float gain : {0.25F, 0.7F, 0.9F}) {
            CAPTURE(gain);
            const auto got = shaped(shaper, format, gain, symbols),
                       want = shaped_then_rounded(shaper, format, gain, symbols);
            std::size_t others = 0;
            for (std::size_t i = 0; i < want.bytes.size(); ++i) {
                const auto apart = static_cast<std::int8_t>(static_cast<int>(got.bytes[i]) -
                                                            static_cast<int>(want.bytes[i]));
                CHECK(std::abs(apart) <= 1);
                others += apart != 0 ? 1U : 0U;
            }
            CHECK(others > 0);  // or no table was used
            CHECK(others < want.bytes.size() / 50);
            const auto wrongly_limited = static_cast<double>(got.limited) - static_cast<double>(want.limited);
            CHECK(std::abs(wrongly_limited) <= 0.01 * static_cast<double>(want.limited));
        }
    }
}

}  // namespace tidemill::dvbs2
