#include "tidemill/io/live/quantize.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tidemill/dsp/quantizer.hpp"

namespace tidemill::io {
namespace {

// Calls make(samples, numbers) for all, or, where the bytes of a file are not aligned, for a piece at a time
// whose numbers are then copied there: single ones would wait for each other.
template <typename Number, class Make>
void in_numbers(std::span<const dsp::Iq> samples, std::byte* to, Make make) {
    if (reinterpret_cast<std::uintptr_t>(to) % alignof(Number) == 0) {
        make(samples, std::span(reinterpret_cast<Number*>(to), 2 * samples.size()));
        return;
    }
    constexpr std::size_t kPiece = 4096;
    alignas(64) std::array<Number, 2 * kPiece> piece;
    for (; !samples.empty(); samples = samples.subspan(std::min(kPiece, samples.size()))) {
        const auto some = samples.first(std::min(kPiece, samples.size()));
        const auto made = std::span(piece).first(2 * some.size());
        make(some, made);
        std::memcpy(to, made.data(), made.size_bytes());
        to += made.size_bytes();
    }
}

template <typename Integer>
std::uint64_t quantize_to(std::span<const dsp::Iq> samples, float gain, std::byte* to) {
    std::uint64_t limited = 0;
    in_numbers<Integer>(samples, to, [&](std::span<const dsp::Iq> some, std::span<Integer> made) {
        limited += dsp::quantize(some, gain, made);
    });
    return limited;
}

template <typename Float>
std::uint64_t scale_floats(std::span<const dsp::Iq> samples, float gain, std::byte* to) {
    in_numbers<Float>(samples, to, [gain](std::span<const dsp::Iq> some, std::span<Float> made) {
        const auto* parts = reinterpret_cast<const float*>(some.data());
        for (std::size_t i = 0; i < made.size(); ++i) made[i] = gain * parts[i];
    });
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

double rounding_snr_db(double rms, dsp::SampleFormat format) {
    // A step of 1 adds a power of 1/12 to I and to Q each.
    const auto of_steps = [rms](double to_full_scale) {
        return 10 * std::log10(6 * std::pow(rms * to_full_scale, 2));
    };
    switch (dsp::little_endian(format)) {
        case dsp::SampleFormat::ci16:
            return of_steps(32767);
        case dsp::SampleFormat::ci8:
            return of_steps(127);
        case dsp::SampleFormat::cu8:
            return of_steps(127.5);
        default:
            return std::numeric_limits<double>::infinity();
    }
}

}  // namespace tidemill::io
