#include "tidemill/apps/reception/level_fault.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "tidemill/base/quantile.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dsp/sample_levels.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"

namespace tidemill::cli {

namespace {

using dsp::SampleFormat;

template <class Float>
std::vector<double> numbers_in(std::span<const std::byte> bytes) {
    std::vector<Float> numbers(bytes.size() / sizeof(Float));
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Float));
    return {numbers.begin(), numbers.end()};
}

// As they are stored, before any is replaced; empty for integers.
std::vector<double> first_numbers(const io::Recording& recording) {
    constexpr std::size_t kSamples = 1 << 20;
    const SampleFormat format = dsp::little_endian(recording.format);
    if (format != SampleFormat::cf32 && format != SampleFormat::cf64) return {};
    std::vector<std::byte> bytes(kSamples * dsp::bytes_per_sample(format));
    io::RecordingReader reader(recording);
    bytes.resize(reader.read(bytes));
    dsp::swap_bytes(recording.format, bytes, bytes);
    return format == SampleFormat::cf32 ? numbers_in<float>(bytes) : numbers_in<double>(bytes);
}

// The middle one of all magnitudes: a few wild numbers, or bytes of another format, are no level.
std::optional<double> usual_magnitude(std::vector<double> numbers) {
    std::erase_if(numbers, [](double x) { return x == 0 || !std::isfinite(x); });
    if (numbers.empty()) return std::nullopt;
    std::ranges::transform(numbers, numbers.begin(), [](double x) { return std::abs(x); });
    return middle_value(numbers);
}

}  // namespace

std::string level_fault(const io::Recording& recording) {
    const auto usual = usual_magnitude(first_numbers(recording));
    if (!usual || (*usual >= dsp::kLeastLevel && *usual <= dsp::kLargestSample)) return {};
    return fmt::format(
        "samples are around {:.0e}, and {:.0e} to {:.0e} is what is processed: scale them, to about 1",
        *usual, dsp::kLeastLevel, dsp::kLargestSample);
}

}  // namespace tidemill::cli
