#include "tidemill/dvbs2/carrier/internal/block_agreement.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {

namespace {

constexpr double kLagMemory = 900;    // symbols
constexpr double kLeastPower = 0.01;  // of the energy
using Complex = std::complex<double>;

Complex times(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

double mean_energy(std::span<const PowerBlock> blocks) {
    double sum = 0;
    for (const PowerBlock& block : blocks) {
        sum += std::norm(block.sum);
    }
    return sum / static_cast<double>(blocks.size());
}

}  // namespace

PowerStatistics statistics_of(double energy, double power) {
    return {std::sqrt(power), std::max(energy - power, 1e-3 * energy)};
}

PowerStatistics statistics_of_straight(std::span<const PowerBlock> blocks) {
    double agreed = 0;
    for (std::size_t b = 1; b < blocks.size(); ++b) {
        agreed += times(blocks[b].sum, std::conj(blocks[b - 1].sum)).real();
    }
    const double energy = mean_energy(blocks);
    return statistics_of(energy, std::max(agreed / static_cast<double>(blocks.size()), kLeastPower * energy));
}

BlockAgreement::BlockAgreement(std::span<const PowerBlock> blocks, int order) : energy_(mean_energy(blocks)) {
    const double spacing = span_of(blocks) / static_cast<double>(blocks.size() - 1);
    turn_ = dsp::kTwoPi * order * spacing;
    const auto lags = static_cast<std::size_t>(2.5 * kLagMemory / spacing);
    for (std::size_t lag = 1; lag <= lags && lag < blocks.size(); ++lag) {
        add_lag(blocks, lag, std::exp(-static_cast<double>(lag) * spacing / kLagMemory));
    }
}

void BlockAgreement::add_lag(std::span<const PowerBlock> blocks, std::size_t lag, double weight) {
    Complex sum{};
    for (std::size_t b = lag; b < blocks.size(); ++b) {
        sum += times(blocks[b].sum, std::conj(blocks[b - lag].sum));
    }
    const auto pairs = static_cast<double>(blocks.size() - lag);
    lag_sums_.push_back(weight * sum);
    pairs_ += weight * pairs;
    noise_pairs_ += weight * weight * pairs;
}

double BlockAgreement::at(double offset) const {
    const Complex step = std::polar(1.0, -turn_ * offset);
    Complex sum{};
    for (std::size_t lag = lag_sums_.size(); lag-- > 0;) {
        sum = times(sum + lag_sums_[lag], step);
    }
    return sum.real();
}

double BlockAgreement::likelihood(double agreed, double power) const {
    const double expected = power * pairs_;
    return expected * (2 * agreed - expected) / (energy_ * energy_ * noise_pairs_);
}

double BlockAgreement::power(double agreed) const {
    return std::max(agreed / pairs_, kLeastPower * energy_);
}

}  // namespace tidemill::dvbs2::internal
