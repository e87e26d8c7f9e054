#include "tidemill/dvbs2/receiver/raw_block.hpp"

#include <algorithm>

namespace tidemill::dvbs2 {

dsp::SampleDefects RawLayout::convert(std::span<const std::byte> raw, const RawInfo& info,
                                      std::span<Iq> samples) const {
    const std::size_t size = dsp::bytes_per_sample(format);
    const std::size_t count = info.end - info.begin;
    std::fill(samples.begin(), samples.begin() + info.begin, Iq{});
    std::fill(samples.begin() + info.end, samples.end(), Iq{});
    return dsp::convert_samples(format, raw.subspan(info.begin * size, count * size),
                                samples.subspan(info.begin, count));
}

std::span<const Iq> RawLayout::samples_in(std::span<const std::byte> raw, const RawInfo& info) const {
    if (format != dsp::SampleFormat::cf32 || info.begin > 0 || info.end < window_samples()) return {};
    const std::span samples(reinterpret_cast<const Iq*>(raw.data()), window_samples());
    return dsp::all_usable(samples) ? samples : std::span<const Iq>();
}

std::span<const dsp::Ci8> RawLayout::bytes_in(std::span<const std::byte> raw, const RawInfo& info) const {
    if (format != dsp::SampleFormat::ci8 || info.begin > 0 || info.end < window_samples()) return {};
    return {reinterpret_cast<const dsp::Ci8*>(raw.data()), window_samples()};
}

}  // namespace tidemill::dvbs2
