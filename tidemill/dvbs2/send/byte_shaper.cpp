#include "tidemill/dvbs2/send/byte_shaper.hpp"

#include <algorithm>
#include <cassert>
#include <numbers>
#include <vector>

#include "tidemill/io/live/quantize.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr float kQpskPart = std::numbers::sqrt2_v<float> / 2;  // of each symbol, but for its sign

// Samples made before they become bytes: what the nearest cache holds beside a table of pulses.
constexpr std::size_t kNearSamples = 2048;

// Whole vectors of any instruction set and whole groups of a table.
std::size_t piece_symbols(std::size_t samples_per_symbol) {
    constexpr std::size_t kAtOnce = 32;
    return std::max(kAtOnce, kNearSamples / samples_per_symbol / kAtOnce * kAtOnce);
}

}  // namespace

ByteShaper::ByteShaper(const PulseShaper& shaper, dsp::SampleFormat format, float gain)
    : shaper_(shaper), format_(format), gain_(gain) {
    const bool is_byte = format == dsp::SampleFormat::ci8 || format == dsp::SampleFormat::cu8;
    if (is_byte && shaper.samples_per_symbol() == dsp::SignInterpolator::kPhases)
        by_signs_.emplace(shaper.taps(), kQpskPart, gain, format);
}

std::uint64_t ByteShaper::shape(std::span<const dsp::Iq> before, std::span<const dsp::Iq> symbols,
                                std::span<std::byte> bytes) const {
    assert(bytes.size() == symbols.size() * bytes_per_symbol());
    std::uint64_t limited = 0;
    shaper_.in_pieces(before, symbols, [&](std::span<const dsp::Iq> some, std::size_t done) {
        const std::size_t count = some.size() - shaper_.history();
        limited += fill(some, bytes.subspan(done * bytes_per_symbol(), count * bytes_per_symbol()));
    });
    return limited;
}

std::uint64_t ByteShaper::fill(std::span<const dsp::Iq> symbols, std::span<std::byte> bytes) const {
    std::uint64_t limited = 0;
    const std::size_t count = symbols.size() - shaper_.history();
    std::size_t done = by_signs_ ? by_signs_->process(symbols, bytes, limited) : 0;
    // A table's groups reach one symbol further than the pulse does: with one more than is wanted nothing of
    // a piece is left to a plain loop, and the samples are, to the bit, those of all at once.
    const std::size_t each = shaper_.samples_per_symbol();
    const std::size_t piece = piece_symbols(each), most = std::min(piece + 1, count - done);
    std::vector<dsp::Iq> samples(most * each);
    while (done < count) {
        const std::size_t some = std::min(piece, count - done), made = std::min(most, count - done);
        shaper_.fill(symbols.subspan(done, made + shaper_.history()), std::span(samples).first(made * each));
        limited += io::quantize(std::span(samples).first(some * each), gain_, format_,
                                bytes.subspan(done * bytes_per_symbol(), some * bytes_per_symbol()));
        done += some;
    }
    return limited;
}

}  // namespace tidemill::dvbs2
