#include "tidemill/io/quantize.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace tidemill::io {
namespace {

// One component as an integer of the format; counts what does not fit.
template <typename Integer>
class Component {
  public:
    Integer operator()(float value) {
        constexpr float kCentre = std::is_unsigned_v<Integer> ? 127.5F : 0.0F;
        constexpr float kMax = std::numeric_limits<Integer>::max() - kCentre;
        const float scaled = value * kMax;
        // Written so that a NaN counts as well.
        limited_ = limited_ || !(std::abs(scaled) <= kMax);
        const float within = std::isnan(scaled) ? 0.0F : std::clamp(scaled, -kMax, kMax);
        return static_cast<Integer>(std::lrint(within + kCentre));
    }

    bool take_limited() { return std::exchange(limited_, false); }

  private:
    bool limited_ = false;
};

template <typename Integer>
std::uint64_t quantize_to(std::span<const dsp::Iq> samples, float gain, std::byte* to) {
    Component<Integer> component;
    std::uint64_t limited = 0;
    for (const auto sample : samples) {
        const Integer pair[2] = {component(gain * sample.real()), component(gain * sample.imag())};
        std::memcpy(to, pair, sizeof(pair));
        to += sizeof(pair);
        limited += component.take_limited() ? 1U : 0U;
    }
    return limited;
}

std::uint64_t scale_floats(std::span<const dsp::Iq> samples, float gain, std::byte* to) {
    for (const auto sample : samples) {
        const auto scaled = gain * sample;
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
            return scale_floats(samples, gain, to.data());
        case dsp::SampleFormat::ci16:
            return quantize_to<std::int16_t>(samples, gain, to.data());
        case dsp::SampleFormat::ci8:
            return quantize_to<std::int8_t>(samples, gain, to.data());
        case dsp::SampleFormat::cu8:
            return quantize_to<std::uint8_t>(samples, gain, to.data());
    }
    return 0;
}

}  // namespace tidemill::io
