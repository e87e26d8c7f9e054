#include "tidemill/dvbs2/carrier/noise.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "tidemill/base/quantile.hpp"
#include "tidemill/dsp/power_peaks.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr double kSmallestPart = 1e-6;  // of the power, so that nothing is divided by zero

// So many neighbours with less than this share of the mean power were zeroed with a pulse: noise does that to
// one in 10^5 such groups at -2.35 dB.
constexpr std::size_t kZeroedTogether = 6;
constexpr double kZeroedShare = 0.1;

struct Sums {
    double real, power, count;
};

Sums sums_of(std::span<const dsp::Iq> symbols) {
    Sums sums{0, 0, 0};
    for (const dsp::Iq symbol : symbols) {
        sums.count += symbol != dsp::Iq{} ? 1 : 0;  // 0: known to be lost
        sums.real += symbol.real();
        sums.power += std::norm(symbol);
    }
    return sums;
}

// Power of so many symbols scatters by an eighth at the most. Those with another level, behind a step of the
// receiver's gain or zeroed, would look like noise.
constexpr std::size_t kLevelGroup = 64;
constexpr float kOtherLevel = 2;

struct Moments {
    double second = 0, fourth = 0;

    void add(dsp::Iq symbol) {
        const double power = std::norm(symbol);
        second += power;
        fourth += power * power;
    }
};

// Half of them are less.
float median_of(std::span<const float> values) {
    std::vector<float> finite;
    std::ranges::copy_if(values, std::back_inserter(finite),
                         [](float value) { return std::isfinite(value); });
    return finite.empty() ? 0 : middle_value(finite);
}

SignalQuality make_quality(double signal, double noise) {
    const double power = std::max(signal + noise, 1e-30);
    const auto part = [&](double value) { return std::max(value, kSmallestPart * power); };
    return {static_cast<float>(std::sqrt(part(signal))), static_cast<float>(part(noise))};
}

}  // namespace

float SignalQuality::esn0_db() const {
    return std::clamp(10 * std::log10(amplitude * amplitude / noise_variance), -20.0F, 60.0F);
}

SignalQuality quality_of_known(std::span<const dsp::Iq> known) {
    const auto for_each_group = [&](auto add) {
        for (std::size_t first = 0; first < known.size(); first += kZeroedTogether)
            add(sums_of(known.subspan(first, std::min(kZeroedTogether, known.size() - first))));
    };
    double all = 0;
    for_each_group([&](const Sums& some) { all += some.power; });
    const double erased = kZeroedShare * all / static_cast<double>(known.size());
    double mean = 0, power = 0, count = 0;
    for_each_group([&](const Sums& some) {
        if (some.power < erased * some.count) return;
        mean += some.real;
        power += some.power;
        count += some.count;
    });
    count = std::max(count, 1.0);
    mean /= count;
    // One of the 2 n real numbers went into the mean.
    const double noise = (power / count - mean * mean) * 2 * count / (2 * count - 1);
    return make_quality(mean * mean - noise / (2 * count), noise);
}

SignalQuality quality_of_psk(std::span<const dsp::Iq> data) {
    std::vector<float> levels(data.size() / kLevelGroup);
    dsp::mean_powers(data, kLevelGroup, levels);
    const float usual = median_of(levels);
    Moments even, odd;  // neither waits for the other
    double count = 0;
    for (const float level : levels) {
        const auto group = data.first(kLevelGroup);
        data = data.subspan(kLevelGroup);
        if (!(level <= kOtherLevel * usual && kOtherLevel * level >= usual)) continue;
        for (std::size_t n = 0; n < kLevelGroup; n += 2) {
            even.add(group[n]);
            odd.add(group[n + 1]);
        }
        count += kLevelGroup;
    }
    const double second = (even.second + odd.second) / std::max(count, 1.0);
    const double fourth = (even.fourth + odd.fourth) / std::max(count, 1.0);
    // With S and N for the powers: M2 = S + N, M4 = S^2 + 4 S N + 2 N^2.
    const double signal = std::sqrt(std::max(2 * second * second - fourth, 0.0));
    return make_quality(signal, second - signal);
}

SignalQuality quality_of_frame(const Pls& pls, std::span<const dsp::Iq> data,
                               std::span<const dsp::Iq> known) {
    const Modcod* modcod = find_modcod(pls.modcod);
    const bool psk = modcod != nullptr && bits_per_symbol(modcod->modulation) <= 3;
    return psk && !pls.pilots ? quality_of_psk(data) : quality_of_known(known);
}

}  // namespace tidemill::dvbs2
