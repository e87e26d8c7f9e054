#include "tidemill/io/quantize.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <complex>
#include <cstdint>
#include <cstring>

#include "tidemill/dsp/quantizer.hpp"

namespace tidemill::io {
namespace {

// Bytes of a file are written as they come: there are no integers to be aligned.
template <typename Integer>
std::uint64_t quantize_to(std::span<const dsp::Iq> samples, float gain, std::byte* to) {
    constexpr std::size_t kPiece = 4096;
    std::array<Integer, 2 * kPiece> piece;
    std::uint64_t limited = 0;
    for (; !samples.empty(); samples = samples.subspan(std::min(kPiece, samples.size()))) {
        const auto some = samples.first(std::min(kPiece, samples.size()));
        const auto made = std::span(piece).first(2 * some.size());
        limited += dsp::quantize(some, gain, made);
        std::memcpy(to, made.data(), made.size_bytes());
        to += made.size_bytes();
    }
    return limited;
}

template <typename Float>
std::uint64_t scale_floats(std::span<const dsp::Iq> samples, float gain, std::byte* to) {
    for (const auto sample : samples) {
        const std::complex<Float> scaled(gain * sample);
        std::memcpy(to, &scaled, sizeof(scaled));
        to += sizeof(scaled);
    }
    return 0;
}

}  // namespace

std::uint64_t quantize(std::span<const dsp::Iq> samples, float gain, dsp::SampleFormat format,
                       std::span<std::byte> to) {
    assert(to.size() >= samples.size() * dsp::bytes_per_sample(format));
    switch (format) {
        case dsp::SampleFormat::cf32:
            return scale_floats<float>(samples, gain, to.data());
        case dsp::SampleFormat::cf64:
            return scale_floats<double>(samples, gain, to.data());
        case dsp::SampleFormat::ci16:
            return quantize_to<std::int16_t>(samples, gain, to.data());
        case dsp::SampleFormat::ci8:
            return quantize_to<std::int8_t>(samples, gain, to.data());
        case dsp::SampleFormat::cu8:
            return quantize_to<std::uint8_t>(samples, gain, to.data());
        case dsp::SampleFormat::cf32_be:
        case dsp::SampleFormat::ci16_be:
        case dsp::SampleFormat::cf64_be:
            break;
    }
    const std::uint64_t limited = quantize(samples, gain, dsp::little_endian(format), to);
    const auto written = to.first(samples.size() * dsp::bytes_per_sample(format));
    dsp::swap_bytes(format, written, written);
    return limited;
}

}  // namespace tidemill::io
