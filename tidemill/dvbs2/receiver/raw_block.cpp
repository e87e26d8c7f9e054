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

}  // namespace tidemill::dvbs2
