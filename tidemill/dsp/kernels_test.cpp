#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/complex_fir.hpp"
#include "tidemill/dsp/half_symbol_moments.hpp"
#include "tidemill/dsp/interpolator.hpp"
#include "tidemill/dsp/iq_balance.hpp"
#include "tidemill/dsp/lag_correlation.hpp"
#include "tidemill/dsp/polyphase.hpp"
#include "tidemill/dsp/polyphase_pairs.hpp"
#include "tidemill/dsp/power_peaks.hpp"
#include "tidemill/dsp/pulse.hpp"
#include "tidemill/dsp/quantizer.hpp"
#include "tidemill/dsp/rotator.hpp"
#include "tidemill/dsp/short_rotator.hpp"
#include "tidemill/dsp/split_fir.hpp"
#include "tidemill/dsp/split_fir16.hpp"
#include "tidemill/dsp/testing/every_target.hpp"

namespace tidemill::dsp {
namespace {

using Wide = std::complex<double>;

std::vector<Iq> noise(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    std::vector<Iq> x(count);
    for (Iq& v : x) v = {normal(random), normal(random)};
    return x;
}

double error_db(std::span<const Iq> got, const std::vector<Wide>& want) {
    REQUIRE(got.size() == want.size());
    double error = 0.0, power = 1e-300;
    for (std::size_t n = 0; n < want.size(); ++n) {
        error += std::norm(Wide(got[n]) - want[n]);
        power += std::norm(want[n]);
    }
    return 10.0 * std::log10(error / power + 1e-300);
}

// `phases` outputs for each input behind the first 2 reach - 1.
std::vector<Wide> textbook_interpolation(std::span<const Iq> x, std::size_t reach, std::size_t phases,
                                         double (*response)(double)) {
    std::vector<Wide> sums((x.size() - (2 * reach - 1)) * phases);
    for (std::size_t n = 0; n < sums.size(); ++n) {
        // Where the output lies, in input samples.
        const double place =
            static_cast<double>(n) / static_cast<double>(phases) + static_cast<double>(reach) - 1;
        for (std::size_t j = n / phases; j < n / phases + 2 * reach; ++j) {
            sums[n] += response(place - static_cast<double>(j)) * Wide(x[j]);
        }
    }
    return sums;
}

// Noise in two halves, and what the textbook's convolution makes of it.
class SplitSignal {
  public:
    SplitSignal(std::size_t count, std::size_t pairs, std::size_t shift)
        : even_(noise(count + pairs + shift, 3)),
          odd_(noise(count + pairs + shift, 4)),
          shift_(shift),
          count_(count) {
        for (std::size_t k = 0; k < 2 * pairs; ++k) {
            const double place = (static_cast<double>(k) - static_cast<double>(pairs - 1)) / 2;
            taps_.push_back(static_cast<float>(root_raised_cosine(place, 0.2)));
        }
    }

    void scale(float by) {
        for (auto* half : {&even_, &odd_})
            for (Iq& x : *half) x *= by;
    }
    // The largest sum there can be: each sample has its tap's sign.
    void make_worst() {
        for (std::size_t n = 0; n < taps_.size(); ++n) {
            const float most = std::copysign(1e9F, taps_[n]);
            (n % 2 ? odd_ : even_)[shift_ + n / 2] = {most, -most};
        }
    }

    // Even ones, then odd ones.
    template <class Filter>
    std::vector<Iq> filtered_by(Filter filter) const {
        std::vector<Iq> got(2 * count_);
        filter({std::span(even_).subspan(shift_), std::span(odd_).subspan(shift_)}, taps_,
               std::span(got).first(count_), std::span(got).last(count_));
        return got;
    }

    template <class Filter>
    double error_db_of(Filter filter) const {
        return error_db(filtered_by(filter), textbook());
    }

  private:
    std::vector<Wide> textbook() const {
        const auto x = [&](std::size_t n) { return Wide((n % 2 ? odd_ : even_)[shift_ + n / 2]); };
        std::vector<Wide> want(2 * count_);
        for (std::size_t n = 0; n < count_; ++n) {
            for (std::size_t k = 0; k < taps_.size(); ++k) {
                want[n] += static_cast<double>(taps_[k]) * x(2 * n + k);
                want[count_ + n] += static_cast<double>(taps_[k]) * x(2 * n + 1 + k);
            }
        }
        return want;
    }

    std::vector<Iq> even_, odd_;
    std::vector<float> taps_{};
    std::size_t shift_, count_;
};

// split_fir16() of samples that are rounded by the largest of their parts.
void rounded_fir(SplitView x, std::span<const float> taps, std::span<Iq> even_out, std::span<Iq> odd_out) {
    float most = 0;
    for (const auto half : {x.even, x.odd})
        for (const Iq v : half) most = std::max({most, std::abs(v.real()), std::abs(v.imag())});
    const float scale = most > 0 ? 32767 / most : 0;
    std::vector<std::int16_t> parts;
    const auto put = [&](float a, float b) {
        for (const float v : {a, b}) parts.push_back(static_cast<std::int16_t>(std::lrint(v * scale)));
    };
    for (std::size_t n = 0; n < x.even.size(); ++n) {
        put(x.even[n].real(), x.odd[n].real());
        put(x.even[n].imag(), x.odd[n].imag());
    }
    split_fir16({parts, most / 32767}, taps, even_out, odd_out);
}

}  // namespace

TEST_CASE("rotator: every instruction set turns like the textbook loop, at any length and alignment") {
    const Oscillator o{0.3, -0.0271828, 1.7};
    on_every_target([&] {
        for (const std::size_t count : {0U, 1U, 2U, 7U, 31U, 64U, 513U, 4099U}) {
            for (const std::size_t shift : {0U, 1U, 3U}) {
                const auto x = noise(count + shift, 1);
                const std::span<const Iq> in = std::span(x).subspan(shift);
                std::vector<Wide> want(count);
                for (std::size_t n = 0; n < count; ++n) {
                    const double cycles = o.phase_cycles + o.frequency * static_cast<double>(n);
                    want[n] = Wide(in[n]) * std::polar(o.gain, 2.0 * std::numbers::pi * cycles);
                }
                std::vector<Iq> out(count);
                rotate(in, o, out);
                CHECK(error_db(out, want) < -110.0);
            }
        }
    });
}

TEST_CASE("rotator: the split form gives the same samples, even and odd ones apart") {
    const Oscillator o{0.9, 0.11, 0.5};
    on_every_target([&] {
        for (const std::size_t count : {0U, 2U, 6U, 62U, 1026U}) {
            const auto x = noise(count, 2);
            std::vector<Iq> whole(count), even(count / 2), odd(count / 2);
            rotate(x, o, whole);
            rotate_split(x, o, even, odd);
            for (std::size_t n = 0; n < count; ++n) CHECK(whole[n] == (n % 2 ? odd : even)[n / 2]);
        }
    });
}

TEST_CASE("rotator: whole numbers are the turned samples, rounded and held within 16 bits") {
    const Oscillator o{0.3, -0.0271828, 9000.0};
    on_every_target([&] {
        for (const std::size_t count : {0U, 1U, 7U, 64U, 1027U}) {
            for (const std::size_t shift : {0U, 1U, 3U}) {
                const auto x = noise(count + shift, 1);
                const std::span<const Iq> in = std::span(x).subspan(shift);
                std::vector<std::int16_t> re(count), im(count);
                rotate_to_planes(in, o, re, im);
                for (std::size_t n = 0; n < count; ++n) {
                    const Wide want = Wide(in[n]) * o.at(static_cast<double>(n));
                    // Beside rounding, what the oscillator loses in single precision.
                    const double most = 0.5 + 3e-6 * std::abs(want);
                    CHECK(std::abs(re[n] - std::clamp(want.real(), -32768.0, 32767.0)) <= most);
                    CHECK(std::abs(im[n] - std::clamp(want.imag(), -32768.0, 32767.0)) <= most);
                }
            }
        }
    });
}

TEST_CASE("rotator: the phase stays exact far into a stream") {
    const std::vector<Iq> ones(16384, Iq(1.0F));
    std::vector<Iq> out(ones.size());
    const Oscillator o{123456789.25, 0.123456789, 1.0};
    rotate(ones, o, out);
    const double cycles = 0.25 + 0.123456789 * 16383.0;
    CHECK(std::abs(Wide(out.back()) - std::polar(1.0, 2.0 * std::numbers::pi * cycles)) < 2e-5);
}

TEST_CASE("split_fir: every instruction set filters like the textbook convolution") {
    on_every_target([] {
        for (const std::size_t pairs : {1U, 5U, 16U, 32U}) {
            for (const std::size_t count : {0U, 1U, 15U, 64U, 133U, 1111U}) {
                for (const std::size_t shift : {0U, 1U, 3U})
                    CHECK(SplitSignal(count, pairs, shift).error_db_of(split_fir) < -110.0);
            }
        }
    });
}

TEST_CASE("split_fir16: every instruction set filters like the textbook, at every length and alignment") {
    on_every_target([] {
        for (const std::size_t pairs : {1U, 5U, 16U, 31U, 32U}) {
            // The sum of a few may be small by accident.
            for (std::size_t count = 0; count < 80; ++count)
                CHECK(SplitSignal(count, pairs, count % 8).error_db_of(rounded_fir) <
                      (count < 16 ? -70.0 : -75.0));
        }
        for (const std::size_t count : {511U, 528U, 1111U, 2049U}) {
            for (std::size_t shift = 0; shift < 8; ++shift)
                CHECK(SplitSignal(count, 16, shift).error_db_of(rounded_fir) < -75.0);
        }
    });
}

TEST_CASE("split_fir16: every instruction set gives the same bits, whatever the signal's level") {
    std::vector<std::vector<Iq>> first;
    on_every_target([&first] {
        std::vector<std::vector<Iq>> all;
        for (const float level : {1.0F, 0.37F, 3e-7F, 8.1e5F}) {
            for (const std::size_t count : {1U, 7U, 16U, 31U, 100U, 527U, 3000U}) {
                SplitSignal signal(count, 16, count % 4);
                signal.scale(level);
                all.push_back(signal.filtered_by(rounded_fir));
            }
        }
        if (first.empty()) first = all;
        CHECK(all == first);
    });
}

TEST_CASE("split_fir16: neither silence nor the loudest samples are beyond what its integers hold") {
    on_every_target([] {
        SplitSignal signal(600, 16, 0);
        signal.scale(0);
        CHECK(signal.error_db_of(rounded_fir) == -3000.0);
        SplitSignal loud(600, 16, 0);
        loud.scale(1e9F);
        CHECK(loud.error_db_of(rounded_fir) < -75.0);
        loud.make_worst();
        CHECK(loud.error_db_of(rounded_fir) < -75.0);
    });
}

TEST_CASE("complex_fir: every instruction set filters like the textbook convolution") {
    on_every_target([] {
        for (const std::size_t count : {0U, 1U, 7U, 64U, 133U}) {
            const auto taps = noise(48, 5), x = noise(count + taps.size(), 6);
            std::vector<Wide> want(count);
            for (std::size_t n = 0; n < count; ++n)
                for (std::size_t j = 0; j < taps.size(); ++j) want[n] += Wide(taps[j]) * Wide(x[n + j]);
            std::vector<Iq> got(count);
            complex_fir(x, taps, got);
            if (count > 0) CHECK(error_db(got, want) < -110.0);
        }
    });
}

TEST_CASE("interpolator: every instruction set makes the textbook sum, for any number of phases") {
    const auto response = [](double t) { return std::exp(-0.1 * t * t) * std::cos(0.7 * t); };
    on_every_target([&] {
        for (const std::size_t phases : {1U, 2U, 3U, 5U}) {
            for (const std::size_t count : {0U, 1U, 31U, 32U, 133U}) {
                constexpr std::size_t kReach = 6;
                const Interpolator interpolator(kReach, phases, response);
                const auto x = noise(count + interpolator.history(), 5);
                std::vector<Iq> got(count * phases);
                interpolator.process(x, got);
                const auto want = textbook_interpolation(x, kReach, phases, response);
                if (count > 0) CHECK(error_db(got, want) < -120.0);
            }
        }
    });
}

TEST_CASE("interpolator: samples of one magnitude, looked up by their signs, give the textbook sum as well") {
    const auto response = [](double t) { return std::exp(-0.01 * t * t) * std::cos(0.7 * t); };
    on_every_target([&] {
        for (const std::size_t phases : {1U, 2U, 3U}) {
            for (const std::size_t reach : {1U, 6U, 20U, 32U, 33U}) {
                for (const std::size_t count : {8U, 39U, 64U, 1201U}) {
                    const Interpolator interpolator(reach, phases, response);
                    auto x = noise(count + interpolator.history(), 5);
                    for (Iq& v : x) v = {std::copysign(0.7F, v.real()), std::copysign(0.7F, v.imag())};
                    std::vector<Iq> got(count * phases);
                    interpolator.process(x, got);
                    CHECK(error_db(got, textbook_interpolation(x, reach, phases, response)) < -120.0);
                }
            }
        }
    });
}

TEST_CASE("interpolator: a sample of another magnitude, wherever it stands, is no part of a table") {
    const auto response = [](double t) { return std::exp(-0.1 * t * t); };
    constexpr std::size_t kReach = 6, kPhases = 2;
    const Interpolator interpolator(kReach, kPhases, response);
    on_every_target([&] {
        for (std::size_t odd_one = 0; odd_one < 1200; odd_one += 37) {
            std::vector<Iq> x(1200, Iq(1.0F, -1.0F));
            x[odd_one] = {1.0F, 0.5F};
            std::vector<Iq> got((x.size() - interpolator.history()) * kPhases);
            interpolator.process(x, got);
            CHECK(error_db(got, textbook_interpolation(x, kReach, kPhases, response)) < -120.0);
        }
    });
}

TEST_CASE("quantizer: every instruction set rounds, limits and counts as the textbook does") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    on_every_target([&] {
        for (const std::size_t count : {0U, 1U, 7U, 16U, 50U, 133U}) {
            auto x = noise(count, 6);
            if (count > 5) x[3] = {nan, 0.5F}, x[4] = {-9.0F, 9.0F}, x[5] = {1.0F, -1.0F};
            const auto check = [&]<typename Integer>(Integer) {
                constexpr float kCentre = std::is_unsigned_v<Integer> ? 127.5F : 0.0F;
                constexpr float kMost = static_cast<float>(std::numeric_limits<Integer>::max()) - kCentre;
                std::vector<Integer> want;
                std::uint64_t limited = 0;
                for (const Iq sample : x) {
                    bool beyond = false;
                    for (const float part : {sample.real(), sample.imag()}) {
                        const float scaled = 0.5F * part * kMost;
                        beyond |= !(std::abs(scaled) <= kMost);
                        const float within = std::isnan(scaled) ? 0.0F : std::clamp(scaled, -kMost, kMost);
                        want.push_back(static_cast<Integer>(std::lrint(within + kCentre)));
                    }
                    limited += beyond ? 1U : 0U;
                }
                std::vector<Integer> got(2 * count);
                CHECK(quantize(x, 0.5F, std::span<Integer>(got)) == limited);
                CHECK(got == want);
            };
            check(std::int8_t{});
            check(std::uint8_t{});
            check(std::int16_t{});
        }
    });
}

TEST_CASE("polyphase: every instruction set evaluates the filter at the nearest of its phases") {
    const auto response = [](double t) { return std::exp(-0.05 * t * t) * std::cos(0.4 * t); };
    constexpr std::size_t kTaps = 22, kPhases = 64;
    const PolyphaseBank bank(kTaps, kPhases, response);
    on_every_target([&] {
        for (const std::size_t count : {0U, 1U, 100U}) {
            const double first = 2.9, step = 1.35;
            const auto x = noise(static_cast<std::size_t>(first + step * 100) + bank.reach(), 5);
            std::vector<Wide> want(count);
            for (std::size_t i = 0; i < count; ++i) {
                const double place =
                    std::floor((first + step * static_cast<double>(i)) * kPhases + 0.5) / kPhases;
                const auto whole = static_cast<std::size_t>(place);
                for (std::size_t k = 0; k < kTaps; ++k) {
                    const double t =
                        static_cast<double>(k) - (kTaps / 2.0 - 1.0) - (place - std::floor(place));
                    want[i] += response(t) * Wide(x[whole + k]);
                }
            }
            std::vector<Iq> got(count);
            bank.evaluate(x, first, step, got);
            CHECK(error_db(got, want) < -60.0);
        }
    });
}

TEST_CASE("polyphase_pairs: every instruction set evaluates both outputs like the textbook sums") {
    const auto response = [](double t) { return std::exp(-0.05 * t * t) * std::cos(0.4 * t); };
    constexpr std::size_t kPhases = 64;
    constexpr float kUnit = 1.0F / 1024;
    on_every_target([&] {
        for (const std::size_t taps : {2U, 22U, 40U, 90U}) {
            for (const double apart : {0.0, 1.35, 7.5}) {
                const PolyphasePairs pairs(taps, kPhases, apart, response);
                for (const std::size_t count : {0U, 1U, 100U}) {
                    const double first = 2.9, step = 2 * apart + 0.3;
                    const auto x =
                        noise(static_cast<std::size_t>(first + step * 100) + pairs.reach(), 5 + taps);
                    std::vector<std::int16_t> re, im;
                    for (const Iq v : x) {
                        re.push_back(static_cast<std::int16_t>(v.real() / kUnit));
                        im.push_back(static_cast<std::int16_t>(v.imag() / kUnit));
                    }
                    std::vector<Wide> want_first(count), want_second(count);
                    for (std::size_t i = 0; i < count; ++i) {
                        const double place =
                            std::floor((first + step * static_cast<double>(i)) * kPhases + 0.5) / kPhases;
                        const auto from = static_cast<std::size_t>(first + step * static_cast<double>(i));
                        for (std::size_t k = 0; k < pairs.reach(); ++k) {
                            const double t = static_cast<double>(from + k) - (taps / 2.0 - 1.0) - place;
                            const Wide value(re[from + k] * kUnit, im[from + k] * kUnit);
                            if (std::abs(t) < taps / 2.0) want_first[i] += response(t) * value;
                            if (std::abs(t - apart) < taps / 2.0)
                                want_second[i] += response(t - apart) * value;
                        }
                    }
                    std::vector<Iq> got_first(count), got_second(count);
                    pairs.evaluate({re, im}, first, step, kUnit, got_first, got_second);
                    if (count == 0) continue;
                    CHECK(error_db(got_first, want_first) < -65.0);
                    CHECK(error_db(got_second, want_second) < -65.0);
                }
            }
        }
    });
}

TEST_CASE("polyphase_pairs: no sum overflows, whatever the samples are") {
    const auto response = [](double t) { return std::cos(3.1 * t) / (1 + 0.1 * std::abs(t)); };
    const PolyphasePairs pairs(40, 16, 1.2, response);
    std::vector<std::int16_t> re(pairs.reach()), im(pairs.reach());
    double most = 0;
    for (std::size_t k = 0; k < re.size(); ++k) {
        const double t = static_cast<double>(k) - 19;
        if (std::abs(t) < 20) most += 32767 * std::abs(response(t));
        re[k] = response(t) < 0 ? -32768 : 32767;
        im[k] = response(t) < 0 ? 32767 : -32768;
    }
    on_every_target([&] {
        std::vector<Iq> first(1), second(1);
        pairs.evaluate({re, im}, 0, 1, 1, first, second);
        CHECK(first[0].real() == doctest::Approx(most).epsilon(1e-3));
        CHECK(first[0].imag() == doctest::Approx(-most).epsilon(1e-3));
    });
}

TEST_CASE("lag_correlation: every instruction set agrees with the textbook sums") {
    on_every_target([] {
        for (const LagSet& lags : {LagSet{}, LagSet{3, 3, 16}, LagSet{1, 2, 8}, LagSet{5, 1, 4}}) {
            for (const std::size_t count : {0U, 1U, 9U, 2048U}) {
                const auto x = noise(count + lags.reach(), 6);
                const LagCorrelation got = lag_correlation(x, count, lags);
                double power = 0.0;
                for (std::size_t n = 0; n < count; ++n) power += std::norm(Wide(x[n]));
                CHECK(got.power == doctest::Approx(power).epsilon(1e-5));
                for (std::size_t l = 0; l < kMaxLags; ++l) {
                    Wide want{};
                    for (std::size_t n = 0; n < count && l < lags.count; ++n) {
                        want += std::conj(Wide(x[n])) * Wide(x[n + lags.lag(l)]);
                    }
                    CHECK(std::abs(got.sums[l] - want) < 1e-5 * (power + 1.0));
                }
            }
        }
    });
}

TEST_CASE("power_peaks: every instruction set finds the strongest part, the strongest group and the mean") {
    on_every_target([] {
        for (const std::size_t count : {64U, 100U, 640U, 17000U}) {
            auto x = noise(count, 10);
            x[count / 2] = {0, -9};
            x[count - 1] = {7, 0};  // in no whole group
            float mean = 0, part = 0, group = 0;
            const auto look = [&](std::size_t begin, bool is_whole) {
                std::vector<float> sums(16);
                for (std::size_t n = begin; n < begin + kPeakGroup; ++n) {
                    for (const float v : {x[n].real(), x[n].imag()}) part = std::max(part, v * v);
                    sums[2 * (n - begin) % 16] += x[n].real() * x[n].real();
                    sums[2 * (n - begin) % 16 + 1] += x[n].imag() * x[n].imag();
                    if (is_whole) mean += std::norm(x[n]);
                }
                group = std::max(group, *std::ranges::max_element(sums) / kPeakParts);
            };
            for (std::size_t n = 0; n + kPeakGroup <= count; n += kPeakGroup) look(n, true);
            look(count - kPeakGroup, false);
            const std::size_t in_groups = count / kPeakGroup * kPeakGroup;
            const PowerPeaks got = power_peaks(x);
            CHECK(got.mean == doctest::Approx(mean / static_cast<float>(in_groups)).epsilon(1e-4));
            CHECK(got.part == part);
            CHECK(got.part == 81);
            CHECK(got.group == doctest::Approx(group).epsilon(1e-5));
        }
        CHECK(power_peaks(noise(63, 1)).mean == 0);
    });
}

TEST_CASE("iq_moments: every instruction set agrees with the textbook sums, at any length and alignment") {
    on_every_target([] {
        for (const std::size_t count : {0U, 1U, 3U, 16U, 77U, 2048U}) {
            for (const std::size_t shift : {0U, 1U, 3U}) {
                const auto x = noise(count + shift, 9);
                IqMoments want;
                for (std::size_t n = shift; n < x.size(); ++n) {
                    want.count += 1;
                    want.power += std::norm(Wide(x[n]));
                    want.sum += Wide(x[n]);
                    want.square += Wide(x[n]) * Wide(x[n]);
                }
                const IqMoments got = iq_moments(std::span(x).subspan(shift));
                const double scale = 1e-5 * (want.power + 1);
                CHECK(got.count == want.count);
                CHECK(std::abs(got.power - want.power) < scale);
                CHECK(std::abs(got.sum - want.sum) < scale);
                CHECK(std::abs(got.square - want.square) < scale);
            }
        }
    });
}

TEST_CASE(
    "correct_iq: every instruction set takes offset and image away as the textbook does, in place too") {
    const IqCorrection correction{{0.3F, -0.2F}, {0.05F, -0.11F}};
    on_every_target([&] {
        for (const std::size_t count : {0U, 1U, 3U, 16U, 77U}) {
            for (const std::size_t shift : {0U, 1U, 3U}) {
                auto x = noise(count + shift, 10);
                const auto in = std::span(x).subspan(shift);
                std::vector<Wide> want;
                for (const Iq& v : in) {
                    const Wide centred = Wide(v) - Wide(correction.offset);
                    want.push_back(centred - Wide(correction.image) * std::conj(centred));
                }
                std::vector<Iq> got(count);
                correct_iq(in, correction, got);
                if (count > 0) CHECK(error_db(got, want) < -120.0);
                correct_iq(in, correction, in);
                CHECK(std::ranges::equal(in, got));
            }
        }
    });
}

TEST_CASE("iq_correction: gives back what an offset and an imbalance were put on, but for a factor") {
    auto x = noise(200000, 11);
    const std::vector<Iq> sent = x;
    const Wide signal{0.9, 0.1}, image{0.08, -0.15}, offset{0.4, -0.7};
    for (Iq& v : x) v = Iq(signal * Wide(v) + image * std::conj(Wide(v)) + offset);
    const IqCorrection correction = iq_correction(iq_moments(x));
    CHECK(std::abs(Wide(correction.offset) - offset) < 0.01);
    CHECK(std::abs(Wide(correction.image) - image / std::conj(signal)) < 0.01);
    CHECK(!iq_correction(iq_moments(std::vector<Iq>(8))).changes_anything());
    CHECK(!iq_correction({}).changes_anything());
}

TEST_CASE("half_symbol_moments: every instruction set agrees with the textbook sums") {
    on_every_target([] {
        for (const std::size_t count : {1U, 2U, 8U, 17U, 513U}) {
            const auto even = noise(count, 7), odd = noise(count, 8);
            double want[4] = {0, 0, 0, 0};
            for (std::size_t n = 1; n < count; ++n) {
                want[0] += std::norm(Wide(even[n]));
                want[1] += std::norm(Wide(odd[n]));
                want[2] += (std::conj(Wide(even[n])) * Wide(odd[n])).real();
                want[3] += (std::conj(Wide(odd[n - 1])) * Wide(even[n])).real();
            }
            const HalfSymbolMoments got = half_symbol_moments({even, odd});
            const double scale = 1e-5 * (want[0] + want[1] + 1.0);
            CHECK(std::abs(got.even_power - want[0]) < scale);
            CHECK(std::abs(got.odd_power - want[1]) < scale);
            CHECK(std::abs(got.rising - want[2]) < scale);
            CHECK(std::abs(got.falling - want[3]) < scale);
        }
    });
}

}  // namespace tidemill::dsp
