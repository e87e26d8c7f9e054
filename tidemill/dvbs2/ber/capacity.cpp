#include "tidemill/dvbs2/ber/capacity.hpp"

#include <cmath>
#include <complex>
#include <span>

#include "tidemill/dvbs2/standard/constellation.hpp"

namespace tidemill::dvbs2 {

namespace {

// Reach of noise, in standard deviations per axis: sums over a grid this fine err by less than 1e-6 bit.
constexpr double kNoiseReach = 4.9;
constexpr double kNoiseStep = 0.7;

// The log of how much likelier all points together are than the one that was sent.
double surplus_bits(std::span<const dsp::Iq> points, std::complex<double> sent, std::complex<double> noise,
                    double noise_variance) {
    double likelihood = 0;
    for (const dsp::Iq point : points) {
        const std::complex<double> distance = sent + noise - std::complex<double>(point);
        likelihood += std::exp((std::norm(noise) - std::norm(distance)) / noise_variance);
    }
    return std::log2(likelihood);
}

}  // namespace

// Ungerboeck 1982, equation 5.
double mutual_information_bits(const Modcod& modcod, double esn0_db) {
    const auto points = constellation_of(modcod);
    const double variance = std::pow(10.0, -esn0_db / 10), deviation = std::sqrt(variance / 2);
    double lost = 0, weights = 0;
    for (double x = -kNoiseReach; x < kNoiseReach + kNoiseStep / 2; x += kNoiseStep) {
        for (double y = -kNoiseReach; y < kNoiseReach + kNoiseStep / 2; y += kNoiseStep) {
            const double weight = std::exp(-(x * x + y * y) / 2);
            weights += weight;
            for (const dsp::Iq sent : points)
                lost += weight * surplus_bits(points, sent, {deviation * x, deviation * y}, variance);
        }
    }
    const auto count = static_cast<double>(points.size());
    return std::log2(count) - lost / weights / count;
}

double capacity_esn0_db(const Modcod& modcod, double bits_per_symbol) {
    double low = -20, high = 40;
    for (int halving = 0; halving < 20; ++halving) {
        const double middle = (low + high) / 2;
        (mutual_information_bits(modcod, middle) < bits_per_symbol ? low : high) = middle;
    }
    return (low + high) / 2;
}

}  // namespace tidemill::dvbs2
