#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/sample_format.cpp"
#include "tidemill/dsp/sample_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/sample_levels.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Converts whole vectors and says through `low` and `high` how far the values reached, so that only the
// rare stretch that touches an end of the range has to be counted sample by sample.
template <class Integer>
std::size_t convert_integers(const Integer* in, std::size_t count, float scale, float offset, float* out,
                             std::int32_t* low, std::int32_t* high) {
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> wide;
    const hn::Rebind<Integer, decltype(d)> narrow;
    auto least = hn::Set(wide, std::numeric_limits<std::int32_t>::max());
    auto most = hn::Set(wide, std::numeric_limits<std::int32_t>::min());
    std::size_t n = 0;
    for (; n + hn::Lanes(d) <= count; n += hn::Lanes(d)) {
        const auto value = hn::PromoteTo(wide, hn::LoadU(narrow, in + n));
        least = hn::Min(least, value);
        most = hn::Max(most, value);
        hn::StoreU(hn::MulAdd(hn::ConvertTo(d, value), hn::Set(d, scale), hn::Set(d, offset)), d, out + n);
    }
    *low = hn::GetLane(hn::MinOfLanes(wide, least));
    *high = hn::GetLane(hn::MaxOfLanes(wide, most));
    return n;
}

std::size_t convert_i8(const std::int8_t* in, std::size_t count, float scale, float offset, float* out,
                       std::int32_t* low, std::int32_t* high) {
    return convert_integers(in, count, scale, offset, out, low, high);
}

std::size_t convert_u8(const std::uint8_t* in, std::size_t count, float scale, float offset, float* out,
                       std::int32_t* low, std::int32_t* high) {
    return convert_integers(in, count, scale, offset, out, low, high);
}

std::size_t convert_i16(const std::int16_t* in, std::size_t count, float scale, float offset, float* out,
                        std::int32_t* low, std::int32_t* high) {
    return convert_integers(in, count, scale, offset, out, low, high);
}

// Largest magnitude, compared as integers: NaN and infinity come out above every finite number.
std::int32_t largest_magnitude(const float* x, std::size_t count) {
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> bits;
    const auto magnitude = hn::Set(bits, 0x7fffffff);
    auto most = hn::Zero(bits);
    std::size_t n = 0;
    for (; n + hn::Lanes(d) <= count; n += hn::Lanes(d)) {
        most = hn::Max(most, hn::And(hn::BitCast(bits, hn::LoadU(d, x + n)), magnitude));
    }
    std::int32_t largest = hn::GetLane(hn::MaxOfLanes(bits, most));
    for (; n < count; ++n) {
        std::int32_t value;
        std::memcpy(&value, x + n, sizeof value);
        value &= 0x7fffffff;
        largest = value > largest ? value : largest;
    }
    return largest;
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(convert_i8);
HWY_EXPORT(convert_u8);
HWY_EXPORT(convert_i16);
HWY_EXPORT(largest_magnitude);

namespace {

static_assert(std::endian::native == std::endian::little, "sample formats are little endian");

// Stretch between two looks at the extremes, in floats.
constexpr std::size_t kStretch = 2048;

// Bytes come from files and sockets, at any address.
template <class Integer>
Integer value_at(const Integer* in, std::size_t index) {
    Integer value;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(in) + index * sizeof(Integer), sizeof value);
    return value;
}

template <class Integer>
bool at_an_end(Integer x) {
    return x == std::numeric_limits<Integer>::min() || x == std::numeric_limits<Integer>::max();
}

template <class Integer, class Kernel>
SampleDefects convert_integers(Kernel kernel, std::span<const std::byte> bytes, float scale, float offset,
                               float* out) {
    const auto* in = reinterpret_cast<const Integer*>(bytes.data());
    const std::size_t count = bytes.size() / sizeof(Integer);
    SampleDefects defects;
    for (std::size_t start = 0; start < count; start += kStretch) {
        const std::size_t length = std::min(kStretch, count - start);
        std::int32_t low = 0, high = 0;
        std::size_t n = kernel(in + start, length, scale, offset, out + start, &low, &high);
        bool touched = n > 0 && (low == std::numeric_limits<Integer>::min() ||
                                 high == std::numeric_limits<Integer>::max());
        for (; n < length; ++n) {
            out[start + n] = static_cast<float>(value_at(in, start + n)) * scale + offset;
            touched = touched || at_an_end(value_at(in, start + n));
        }
        for (std::size_t k = start; touched && k < start + length; k += 2) {
            defects.clipped += at_an_end(value_at(in, k)) || at_an_end(value_at(in, k + 1));
        }
    }
    return defects;
}

bool usable(Iq x) {
    return std::abs(x.real()) <= kLargestSample && std::abs(x.imag()) <= kLargestSample;
}

// A value that is no usable number becomes 0.
SampleDefects repair(std::span<Iq> samples) {
    SampleDefects defects;
    for (std::size_t start = 0; start < samples.size(); start += kStretch / 2) {
        const auto stretch = samples.subspan(start, std::min(kStretch / 2, samples.size() - start));
        if (all_usable(stretch)) continue;
        for (Iq& x : stretch) {
            if (usable(x)) continue;
            x = 0.0F;
            ++defects.non_finite;
        }
    }
    return defects;
}

SampleDefects convert_floats(std::span<const std::byte> bytes, std::span<Iq> samples) {
    if (!bytes.empty()) std::memcpy(samples.data(), bytes.data(), bytes.size());
    return repair(samples);
}

SampleDefects convert_doubles(std::span<const std::byte> bytes, std::span<Iq> samples) {
    constexpr double kLargest = kLargestSample;
    for (std::size_t n = 0; n < samples.size(); ++n) {
        std::array<double, 2> parts;
        std::memcpy(parts.data(), bytes.data() + n * sizeof(parts), sizeof(parts));
        // Beyond the range of a float the conversion is undefined.
        const bool fits = std::abs(parts[0]) <= kLargest && std::abs(parts[1]) <= kLargest;
        samples[n] = fits ? Iq(static_cast<float>(parts[0]), static_cast<float>(parts[1]))
                          : Iq(std::numeric_limits<float>::infinity(), 0.0F);
    }
    return repair(samples);
}

template <std::size_t kBytes>
void reverse_each(std::span<const std::byte> from, std::span<std::byte> to) {
    for (std::size_t at = 0; at < from.size(); at += kBytes) {
        std::array<std::byte, kBytes> number{};
        std::reverse_copy(from.begin() + static_cast<std::ptrdiff_t>(at),
                          from.begin() + static_cast<std::ptrdiff_t>(at + kBytes), number.begin());
        std::memcpy(to.data() + at, number.data(), kBytes);
    }
}

// Turns the bytes round, a stretch at a time, and converts them as the little-endian format.
SampleDefects convert_swapped(SampleFormat format, std::span<const std::byte> bytes, std::span<Iq> samples) {
    alignas(64) std::array<std::byte, 4096> stretch;
    const std::size_t size = bytes_per_sample(format);
    SampleDefects defects;
    while (!samples.empty()) {
        const std::size_t count = std::min(samples.size(), stretch.size() / size);
        const auto turned = std::span(stretch).first(count * size);
        swap_bytes(format, bytes.first(count * size), turned);
        const SampleDefects found = convert_samples(little_endian(format), turned, samples.first(count));
        defects.non_finite += found.non_finite;
        defects.clipped += found.clipped;
        bytes = bytes.subspan(count * size);
        samples = samples.subspan(count);
    }
    return defects;
}

}  // namespace

SampleFormat little_endian(SampleFormat format) {
    switch (format) {
        case SampleFormat::cf32_be:
            return SampleFormat::cf32;
        case SampleFormat::ci16_be:
            return SampleFormat::ci16;
        case SampleFormat::cf64_be:
            return SampleFormat::cf64;
        default:
            return format;
    }
}

void swap_bytes(SampleFormat format, std::span<const std::byte> from, std::span<std::byte> to) {
    assert(from.size() == to.size() && from.size() % bytes_per_sample(format) == 0);
    if (!is_big_endian(format)) {
        if (from.data() != to.data()) std::ranges::copy(from, to.begin());
        return;
    }
    switch (bytes_per_sample(format)) {
        case 4:
            return reverse_each<2>(from, to);
        case 8:
            return reverse_each<4>(from, to);
        default:
            return reverse_each<8>(from, to);
    }
}

std::size_t bytes_per_sample(SampleFormat format) {
    switch (format) {
        case SampleFormat::cf64:
        case SampleFormat::cf64_be:
            return 16;
        case SampleFormat::cf32:
        case SampleFormat::cf32_be:
            return 8;
        case SampleFormat::ci16:
        case SampleFormat::ci16_be:
            return 4;
        case SampleFormat::ci8:
        case SampleFormat::cu8:
            return 2;
    }
    return 0;
}

bool all_usable(std::span<const Iq> samples) {
    const std::int32_t largest = HWY_DYNAMIC_DISPATCH(largest_magnitude)(
        reinterpret_cast<const float*>(samples.data()), 2 * samples.size());
    return largest <= std::bit_cast<std::int32_t>(kLargestSample);
}

SampleDefects convert_samples(SampleFormat format, std::span<const std::byte> bytes, std::span<Iq> samples) {
    assert(bytes.size() == samples.size() * bytes_per_sample(format));
    auto* out = reinterpret_cast<float*>(samples.data());
    switch (format) {
        case SampleFormat::cf32:
            return convert_floats(bytes, samples);
        case SampleFormat::cf64:
            return convert_doubles(bytes, samples);
        case SampleFormat::ci16:
            return convert_integers<std::int16_t>(
                [](auto... a) { return HWY_DYNAMIC_DISPATCH(convert_i16)(a...); }, bytes, 1 / 32768.0F, 0,
                out);
        case SampleFormat::ci8:
            return convert_integers<std::int8_t>(
                [](auto... a) { return HWY_DYNAMIC_DISPATCH(convert_i8)(a...); }, bytes, 1 / 128.0F, 0, out);
        case SampleFormat::cu8:
            return convert_integers<std::uint8_t>(
                [](auto... a) { return HWY_DYNAMIC_DISPATCH(convert_u8)(a...); }, bytes, 1 / 127.5F, -1, out);
        case SampleFormat::cf32_be:
        case SampleFormat::ci16_be:
        case SampleFormat::cf64_be:
            return convert_swapped(format, bytes, samples);
    }
    return {};
}

}  // namespace tidemill::dsp
#endif
