#include "tidemill/dsp/sample_format.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/testing/every_target.hpp"

namespace tidemill::dsp {
namespace {

struct Converted {
    std::vector<Iq> samples;
    SampleDefects defects;
};

template <class Value>
Converted convert(SampleFormat format, const std::vector<Value>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    Converted result{std::vector<Iq>(bytes.size() / bytes_per_sample(format)), {}};
    result.defects = convert_samples(format, bytes, result.samples);
    return result;
}

template <class Value>
std::vector<Value> every_value_twice() {
    std::vector<Value> values;
    for (int v = std::numeric_limits<Value>::min(); v <= std::numeric_limits<Value>::max(); ++v) {
        values.push_back(static_cast<Value>(v));
        values.push_back(static_cast<Value>(v));
    }
    return values;
}

template <class Value>
void check_integers(SampleFormat format, double scale, double centre) {
    const auto values = every_value_twice<Value>();
    on_every_target([&] {
        for (std::size_t samples : {std::size_t{0}, std::size_t{1}, std::size_t{37}, values.size() / 2}) {
            const std::vector<Value> part(values.begin(),
                                          values.begin() + static_cast<std::ptrdiff_t>(2 * samples));
            const Converted got = convert(format, part);
            double worst = 0.0;
            for (std::size_t n = 0; n < part.size(); ++n) {
                const float x = n % 2 ? got.samples[n / 2].imag() : got.samples[n / 2].real();
                worst = std::max(worst, std::abs(static_cast<double>(x) - (part[n] - centre) / scale));
            }
            CHECK(worst < 1e-6);
            const std::uint64_t ends = samples == 0 ? 0 : (samples == values.size() / 2 ? 2 : 1);
            CHECK(got.defects.clipped == ends);
            CHECK(got.defects.non_finite == 0);
        }
    });
}

}  // namespace

TEST_CASE(
    "sample formats: every integer value arrives at its place on the scale, and both ends count as clipped") {
    check_integers<std::int8_t>(SampleFormat::ci8, 128.0, 0.0);
    check_integers<std::uint8_t>(SampleFormat::cu8, 127.5, 127.5);
    check_integers<std::int16_t>(SampleFormat::ci16, 32768.0, 0.0);
}

TEST_CASE("sample formats: a sample with both parts clipped counts once") {
    const Converted got = convert(SampleFormat::ci8, std::vector<std::int8_t>{127, -128, 5, 127, 1, 2});
    CHECK(got.defects.clipped == 2);
}

TEST_CASE(
    "sample formats: floats pass through, and what is not a usable number becomes zero and is counted") {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    on_every_target([&] {
        for (std::size_t at = 0; at < 3000; at += 271) {
            std::vector<float> values(6000, 0.25F);
            values[2 * at] = kNan;
            values[2 * at + 1] = -kInfinity;
            values[2 * at + 3] = 3e38F;
            const Converted got = convert(SampleFormat::cf32, values);
            CHECK(got.defects.non_finite == 2);
            CHECK(got.defects.clipped == 0);
            for (std::size_t n = 0; n < got.samples.size(); ++n) {
                CHECK(got.samples[n] == (n == at || n == at + 1 ? Iq(0.0F) : Iq(0.25F, 0.25F)));
            }
        }
    });
}

TEST_CASE("sample formats: bytes need not be aligned") {
    std::vector<std::byte> bytes(4 * 100 + 1, std::byte{1});
    std::vector<Iq> samples(100);
    convert_samples(SampleFormat::ci16, std::span(bytes).subspan(1), samples);
    for (const Iq x : samples) CHECK(x.real() == doctest::Approx(257.0 / 32768.0));
}

TEST_CASE("sample format: doubles come as floats, and what no float can hold is replaced and counted") {
    const double inf = std::numeric_limits<double>::infinity();
    const Converted got =
        convert(SampleFormat::cf64, std::vector<double>{0.5, -0.25, 1e300, 0, 0, -inf, 1, 1});
    CHECK(got.samples == std::vector<Iq>{{0.5F, -0.25F}, 0, 0, {1, 1}});
    CHECK(got.defects.non_finite == 2);
}

TEST_CASE("sample format: big-endian samples are those of the little-endian format, at any length") {
    std::mt19937_64 random(4);
    for (const SampleFormat format : {SampleFormat::cf32_be, SampleFormat::ci16_be, SampleFormat::cf64_be}) {
        for (const std::size_t count : {0U, 1U, 300U, 1500U}) {
            std::vector<std::byte> bytes(count * bytes_per_sample(format));
            for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
            std::vector<std::byte> turned(bytes.size());
            swap_bytes(format, bytes, turned);
            std::vector<Iq> big(count), little(count);
            const SampleDefects defects = convert_samples(format, bytes, big);
            const SampleDefects same = convert_samples(little_endian(format), turned, little);
            CHECK(big == little);
            CHECK(defects.non_finite == same.non_finite);
            CHECK(defects.clipped == same.clipped);
            swap_bytes(format, turned, turned);
            CHECK(turned == bytes);
        }
    }
    const Converted one = convert(SampleFormat::ci16_be, std::vector<std::uint8_t>{0x40, 0x00, 0xc0, 0x00});
    CHECK(one.samples == std::vector<Iq>{{0.5F, -0.5F}});
}

}  // namespace tidemill::dsp
